"""Vector instructions, sixteen lanes wide, for the kernel in `kernel.py`.

    dot_group       four rows of a packed matrix with one token's numbers, or with those of four tokens
    unpack          a row of a packed matrix, as float32
    score_keys      a query with sixteen keys
    row_maximum, exponentials, weighted_sum  the rest of attention
    gate, activate_chunks  the activations

All addresses are of float32 on a multiple of 64 bytes, and all rows a multiple of sixteen long, but for packed weights
and what a product adds and writes, which is four numbers. Each number comes out the same to the bit whether its token
is alone or one of four. `tests/generation/test_compiled.py` has the models in PyTorch beside them.
"""

from collections.abc import Sequence

from llvmlite import ir
from numba.core import cgutils

from pellucid.generation.compiled.packing import BFLOAT16, BLOCK, FLOAT32, INT8, ROWS
from pellucid.kernels.simd import (
    LANES,
    ROW_BYTES,
    Builder,
    Float,
    Floats,
    Int32,
    Integer,
    Ints,
    Number,
    Value,
    allocate_vectors,
    broadcast,
    constant,
    constant_vector,
    exp,
    instruction,
    lane_sums,
    load,
    load_broadcast,
    maximum,
    multiply_add,
    pointer,
    sigmoid,
    store,
)

__all__ = [
    "GELU",
    "GELU_TANH",
    "RELU",
    "activate_chunks",
    "dot_group",
    "exponentials",
    "gate",
    "row_maximum",
    "score_keys",
    "unpack",
    "weighted_sum",
]

RELU, GELU_TANH, GELU = range(3)  # what `activate_chunks` does

_Four = ir.VectorType(Float, ROWS)
_VALUES_AT_ONCE = 4
_BYTES = {FLOAT32: 4, BFLOAT16: 2}
_SQRT_HALF = 0.7071067811865476
_TAIL = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)  # from t⁵ down to t


@instruction
def dot_group(
    builder: Builder,
    kind: int,
    tokens: int,
    weights: Integer,
    chunks: Integer,
    x: Integer,
    x_stride: Integer,
    scales: Integer,
    bias: Integer,
    base: Integer,
    base_stride: Integer,
    out: Integer,
    out_stride: Integer,
) -> None:
    """Compute base + group · x + bias, four numbers per token.

    Args:
        kind, tokens: constants; the packed matrix's kind, and 1 or 4 tokens.
        weights: address of a group of four rows.
        chunks: of sixteen columns.
        x, x_stride: address of the first token's numbers, and bytes from one token to the next.
        scales: at 8 bits, address of four numbers for each block of columns.
        bias: address of four numbers.
        base, base_stride: address of what is added, and bytes from one token to the next (0: the same for all).
        out, out_stride: where it goes; may be where `base` is.
    """
    inputs = [builder.add(x, builder.mul(x_stride, constant(token))) for token in range(tokens)]
    if kind == INT8:
        sums = _block_sums(builder, weights, chunks, inputs, scales)
    else:
        sums = allocate_vectors(builder, ROWS * tokens)
        with cgutils.for_range(builder, chunks) as loop:
            _add_products(builder, kind, weights, loop.index, inputs, sums)
    added = lane_sums(builder, [builder.load(place) for place in sums])
    shift = _load_four(builder, bias)
    for token in range(tokens):
        lanes = ir.Constant(ir.VectorType(Int32, ROWS), [ROWS * token + row for row in range(ROWS)])
        four = builder.shuffle_vector(added, added, lanes)
        value = builder.fadd(four, shift)
        before = _load_four(builder, builder.add(base, builder.mul(base_stride, constant(token))))
        address = builder.add(out, builder.mul(out_stride, constant(token)))
        builder.store(builder.fadd(before, value), pointer(builder, address, constant(0), _Four), align=4)


@instruction
def unpack(
    builder: Builder, kind: int, weights: Integer, chunks: Integer, scales: Integer, factor: Number, out: Integer
) -> None:
    """Unpack a row of a packed matrix, multiplied by `factor`.

    Args:
        kind: constant, the matrix's.
        weights: address of the row's first sixteen numbers.
        scales: at 8 bits, address of the scale of the row's first block.
    """
    factors = broadcast(builder, factor)
    with cgutils.for_range(builder, chunks) as loop:
        group = builder.mul(loop.index, constant(ROWS * LANES * _size(kind)))
        value = builder.fmul(_weights(builder, kind, weights, group), factors)
        if kind == INT8:
            block = builder.udiv(loop.index, constant(BLOCK))
            value = builder.fmul(value, load_broadcast(builder, scales, builder.mul(block, constant(4 * ROWS))))
        store(builder, value, out, builder.mul(loop.index, constant(ROW_BYTES)))


@instruction
def score_keys(
    builder: Builder,
    query: Integer,
    keys: Integer,
    chunks: Integer,
    scale: Number,
    slope: Number,
    distance: Number,
    out: Integer,
) -> None:
    """Compute the scores of sixteen keys: (query · key) · scale − slope · distance.

    Args:
        query, keys: addresses; the keys stand one after another.
        chunks: of sixteen numbers, length of a query and of a key.
        distance: of the first key to the query, tokens; each key after it is one nearer.
    """
    sums = allocate_vectors(builder, LANES)
    length = builder.mul(chunks, constant(ROW_BYTES))
    with cgutils.for_range(builder, chunks) as loop:
        offset = builder.mul(loop.index, constant(ROW_BYTES))
        own = load(builder, query, offset)
        for key, place in enumerate(sums):
            other = load(builder, keys, builder.add(offset, builder.mul(length, constant(key))))
            builder.store(multiply_add(builder, own, other, builder.load(place)), place)
    products = lane_sums(builder, [builder.load(place) for place in sums])
    steps = ir.Constant(Floats, [float(key) for key in range(LANES)])
    distances = builder.fsub(broadcast(builder, distance), steps)
    penalty = builder.fmul(broadcast(builder, slope), distances)
    scores = builder.fsub(builder.fmul(products, broadcast(builder, scale)), penalty)
    store(builder, scores, out, constant(0))


@instruction
def row_maximum(builder: Builder, scores: Integer, chunks: Integer) -> Number:
    """Compute the maximum of a row of scores."""
    (place,) = allocate_vectors(builder, 1)
    builder.store(load(builder, scores, constant(0)), place)
    with cgutils.for_range(builder, chunks) as loop:
        vector = load(builder, scores, builder.mul(loop.index, constant(ROW_BYTES)))
        builder.store(maximum(builder, vector, builder.load(place)), place)
    kind = ir.FunctionType(Float, [Floats])
    reduce = cgutils.get_or_insert_function(builder.module, kind, "llvm.vector.reduce.fmax.v16f32")
    return builder.call(reduce, [builder.load(place)])


@instruction
def exponentials(builder: Builder, scores: Integer, chunks: Integer, top: Number) -> Number:
    """Replace each score by e^(score − top), and return their sum."""
    (place,) = allocate_vectors(builder, 1)
    tops = broadcast(builder, top)
    with cgutils.for_range(builder, chunks) as loop:
        offset = builder.mul(loop.index, constant(ROW_BYTES))
        weights = exp(builder, builder.fsub(load(builder, scores, offset), tops))
        store(builder, weights, scores, offset)
        builder.store(builder.fadd(weights, builder.load(place)), place)
    sums = lane_sums(builder, [builder.load(place)])
    return builder.extract_element(sums, ir.Constant(Int32, 0))


@instruction
def weighted_sum(
    builder: Builder, weights: Integer, values: Integer, count: Integer, chunks: Integer, factor: Number, out: Integer
) -> None:
    """Compute Σ weight · value · factor.

    Args:
        weights, values: addresses; the values stand one after another.
        count: how many, a multiple of four.
        chunks: of sixteen numbers, length of a value.
    """
    length = builder.mul(chunks, constant(ROW_BYTES))
    factors = broadcast(builder, factor)
    with cgutils.for_range(builder, chunks) as chunk:
        offset = builder.mul(chunk.index, constant(ROW_BYTES))
        sums = allocate_vectors(builder, _VALUES_AT_ONCE)
        with cgutils.for_range(builder, builder.udiv(count, constant(_VALUES_AT_ONCE))) as loop:
            first = builder.mul(loop.index, constant(_VALUES_AT_ONCE))
            for n, place in enumerate(sums):
                number = builder.add(first, constant(n))
                value = load(builder, values, builder.add(offset, builder.mul(length, number)))
                weight = load_broadcast(builder, weights, builder.mul(number, constant(4)))
                builder.store(multiply_add(builder, weight, value, builder.load(place)), place)
        a, b, c, d = (builder.load(place) for place in sums)
        total = builder.fadd(builder.fadd(a, b), builder.fadd(c, d))
        store(builder, builder.fmul(total, factors), out, offset)


@instruction
def gate(builder: Builder, gates: Integer, values: Integer, chunks: Integer) -> None:
    """Replace each gate g by silu(g) · value, silu(g) = g σ(g)."""
    with cgutils.for_range(builder, chunks) as loop:
        offset = builder.mul(loop.index, constant(ROW_BYTES))
        own = load(builder, gates, offset)
        opened = builder.fmul(own, sigmoid(builder, own))
        store(builder, builder.fmul(opened, load(builder, values, offset)), gates, offset)


@instruction
def activate_chunks(builder: Builder, how: int, numbers: Integer, chunks: Integer) -> None:
    """Apply the activation to each number.

    ReLU: max(x, 0). GELU: x Φ(x), which is max(x, 0) − |x| (1 − Φ(|x|)). GELU as GPT-2 approximates it:
    x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))), which is x σ(2 √(2/π) (x + 0.044715 x³)).
    `how` is a constant: RELU, GELU or GELU_TANH.

    Source:
        Hendrycks & Gimpel 2016, §2.
    """
    with cgutils.for_range(builder, chunks) as loop:
        offset = builder.mul(loop.index, constant(ROW_BYTES))
        x = load(builder, numbers, offset)
        if how == RELU:
            activated = maximum(builder, x, constant_vector(0))
        elif how == GELU:
            size = maximum(builder, x, builder.fneg(x))
            lost = builder.fmul(size, _normal_tail(builder, size))
            activated = builder.fsub(maximum(builder, x, constant_vector(0)), lost)
        else:
            inner = multiply_add(builder, builder.fmul(x, x), constant_vector(0.044715), constant_vector(1))
            score = builder.fmul(builder.fmul(x, inner), constant_vector(1.5957691216057308))
            activated = builder.fmul(x, sigmoid(builder, score))
        store(builder, activated, numbers, offset)


def _block_sums(builder: Builder, weights: Value, chunks: Value, inputs: Sequence[Value], scales: Value) -> list[Value]:
    """Emit sums over blocks of columns, each block's own multiplied by its scale."""
    totals, sums = allocate_vectors(builder, ROWS * len(inputs)), allocate_vectors(builder, ROWS * len(inputs))
    blocks = builder.udiv(builder.add(chunks, constant(BLOCK - 1)), constant(BLOCK))
    with cgutils.for_range(builder, blocks) as block:
        for place in sums:
            builder.store(constant_vector(0), place)
        first = builder.mul(block.index, constant(BLOCK))
        left = builder.sub(chunks, first)
        many = builder.select(builder.icmp_unsigned("<", left, constant(BLOCK)), left, constant(BLOCK))
        with cgutils.for_range(builder, many) as loop:
            _add_products(builder, INT8, weights, builder.add(first, loop.index), inputs, sums)
        own = builder.add(scales, builder.mul(block.index, constant(4 * ROWS)))
        for row in range(ROWS):
            scale = load_broadcast(builder, own, constant(4 * row))
            for place, total in zip(sums[row::ROWS], totals[row::ROWS], strict=True):
                builder.store(multiply_add(builder, builder.load(place), scale, builder.load(total)), total)
    return totals


def _add_products(
    builder: Builder, kind: int, weights: Value, chunk: Value, inputs: Sequence[Value], sums: Sequence[Value]
) -> None:
    """Emit the products of a chunk of a group's four rows with each token's numbers, added to the sums."""
    offset = builder.mul(chunk, constant(ROW_BYTES))
    numbers = [load(builder, address, offset) for address in inputs]
    group = builder.mul(chunk, constant(ROWS * LANES * _size(kind)))
    for row in range(ROWS):
        own = _weights(builder, kind, weights, builder.add(group, constant(row * LANES * _size(kind))))
        for token, number in enumerate(numbers):
            place = sums[ROWS * token + row]
            builder.store(multiply_add(builder, own, number, builder.load(place)), place)


def _normal_tail(builder: Builder, x: Value) -> Value:
    """Emit 1 − Φ(x) of the normal distribution for x ≥ 0, at most 1e-7 off.

    Source:
        Abramowitz & Stegun 1964, 7.1.26, for erf(x / √2).
    """
    t = builder.fdiv(
        constant_vector(1), multiply_add(builder, x, constant_vector(0.3275911 * _SQRT_HALF), constant_vector(1))
    )
    polynomial = constant_vector(_TAIL[0])
    for coefficient in _TAIL[1:]:
        polynomial = multiply_add(builder, polynomial, t, constant_vector(coefficient))
    density = exp(builder, builder.fmul(builder.fmul(x, x), constant_vector(-0.5)))
    return builder.fmul(builder.fmul(builder.fmul(polynomial, t), constant_vector(0.5)), density)


def _size(kind: int) -> int:
    return _BYTES.get(kind, 1)


def _weights(builder: Builder, kind: int, address: Value, offset: Value) -> Value:
    """Emit the reading of sixteen weights as float32."""
    if kind == FLOAT32:
        return load(builder, address, offset)
    stored = ir.VectorType(ir.IntType(8 * _size(kind)), LANES)
    numbers = builder.load(pointer(builder, address, offset, stored), align=LANES * _size(kind))
    if kind == BFLOAT16:  # the upper half of a float32
        bits = builder.shl(builder.zext(numbers, Ints), ir.Constant(Ints, [16] * LANES))
        return builder.bitcast(bits, Floats)
    return builder.sitofp(builder.sext(numbers, Ints), Floats)


def _load_four(builder: Builder, address: Value) -> Value:
    return builder.load(pointer(builder, address, constant(0), _Four), align=4)

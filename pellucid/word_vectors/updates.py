"""The update of negative sampling for one window: the new rows of inputs and targets.

    update_pairs    each input is scored against the positive target and the negatives (skip-gram)
    update_mean     the mean or sum of the inputs is scored against them (CBOW)

These are Numba intrinsics that work on rows with the instructions of `simd.py`;
`tests/word_vectors/reference_training.py` does the same in a few lines of NumPy.

The loss is nearly free: −Σ log p is −log Π p, and the product takes one multiplication per update. After each, the
exponent of the product is moved to an integer, so that the product never leaves the range of a float; each lane keeps
only a float and an integer.
"""

from collections.abc import Callable, Sequence
from functools import reduce

from llvmlite import ir
from numba.core import cgutils

from pellucid.kernels.simd import (
    LANES,
    ROW_BYTES,
    Builder,
    Floats,
    Int64,
    Integer,
    Ints,
    Number,
    Value,
    allocate_row,
    allocate_vectors,
    broadcast,
    broadcast_lane,
    constant,
    constant_vector,
    for_each,
    for_each_chunk,
    instruction,
    lane_sums,
    load,
    load_address,
    load_broadcast,
    multiply_add,
    pointer,
    prefetch,
    sigmoid,
    store,
    store_unaligned,
)

__all__ = [
    "TARGETS_AT_ONCE",
    "add_movement",
    "copy_row",
    "find_duplicates",
    "prefetch_row",
    "update_mean",
    "update_pairs",
]

TARGETS_AT_ONCE = 8  # at most; two inputs' scores then fill a vector
_ERRORS_BYTES = 4 * TARGETS_AT_ONCE  # bytes of errors per input


@instruction
def update_pairs(
    builder: Builder,
    n_targets: int,
    n_true: int,
    chunks: int,
    inputs: Integer,
    n_inputs: Integer,
    targets: Integer,
    rate: Number,
    errors: Integer,
    loss: Integer,
) -> None:
    """Update input and target rows by the gradient of the loss of all pairs; all are scored before the first update.

    score = input · target; error = [target is positive] − σ(score); input += rate · Σ error · target, and
    target += rate · Σ error · input. A row may be repeated among the inputs (its second update uses
    the updated row), but not among the targets.

    Args:
        n_targets, n_true: constants; number of targets (at most 8), of which the first `n_true` are positives.
        chunks: constant, length of a row divided by 16.
        inputs, n_inputs: address of a list of addresses of rows (int64), and its length.
        targets: address of a list of addresses of rows.
        rate: learning rate.
        errors: address of 8 temporary floats per input, and 8 more.
        loss: see `_score`.
    """
    signs = [1.0 if j < n_true else -1.0 if j < n_targets else 0.0 for j in range(TARGETS_AT_ONCE)]
    others = [load_address(builder, targets, constant(j)) for j in range(n_targets)]
    rates = broadcast(builder, rate)

    def score(first: Value, count: int) -> None:
        rows = [load_address(builder, inputs, builder.add(first, constant(i))) for i in range(count)]
        sums = _products(builder, rows, others, chunks)
        place = builder.mul(first, constant(_ERRORS_BYTES))
        for two in range(0, count, 2):
            vectors: list[Value | None] = []
            for own in sums[two : two + 2]:
                vectors += [*own, *[None] * (TARGETS_AT_ONCE - n_targets)]
            _, error = _score(builder, lane_sums(builder, vectors), signs * len(sums[two : two + 2]), loss)
            offset = builder.add(place, constant(two * _ERRORS_BYTES))
            store_unaligned(builder, builder.fmul(error, rates), errors, offset)

    # 4 inputs × 6 targets need 24 accumulators, which fit in the 32 registers.
    with cgutils.for_range(builder, builder.lshr(n_inputs, constant(2))) as loop:
        score(builder.shl(loop.index, constant(2)), 4)
    for count in (2, 1):
        with builder.if_then(builder.icmp_signed("!=", builder.and_(n_inputs, constant(count)), constant(0))):
            score(builder.and_(n_inputs, constant(-2 * count)), count)
    _move_pairs(builder, inputs, n_inputs, others, chunks, errors)


@instruction
def update_mean(
    builder: Builder,
    n_targets: int,
    n_true: int,
    chunks: int,
    inputs: Integer,
    n_inputs: Integer,
    targets: Integer,
    rate: Number,
    weight: Number,
    input_weight: Number,
    loss: Integer,
) -> None:
    """Update the target rows, and the input rows whose weighted sum is scored against them, by the loss gradient.

    h = weight · Σ inputs; score = h · target; error = [target is positive] − σ(score); target += rate · error · h, and
    every input += input_weight · rate · Σ error · target. The gradient of the loss has input_weight = weight. A row
    may be repeated among the inputs, but not among the targets. The arguments are those of `update_pairs`, with at most
    16 targets and at least one input.
    """
    signs = [1.0 if j < n_true else -1.0 for j in range(n_targets)]
    others = [load_address(builder, targets, constant(j)) for j in range(n_targets)]
    mean, change = allocate_row(builder, chunks), allocate_row(builder, chunks)
    for_each_chunk(builder, chunks, lambda offset: builder.store(constant_vector(0), mean(offset)))

    def for_each_input(body: Callable[[Value, Value], None]) -> None:
        def visit(index: Value) -> None:
            own = load_address(builder, inputs, index)
            for_each_chunk(builder, chunks, lambda offset: body(own, offset))

        for_each(builder, n_inputs, visit)

    def add(own: Value, offset: Value) -> None:
        builder.store(builder.fadd(builder.load(mean(offset)), load(builder, own, offset)), mean(offset))

    for_each_input(add)
    sums, weights = allocate_vectors(builder, n_targets), broadcast(builder, weight)

    def add_products(offset: Value) -> None:
        h = builder.fmul(builder.load(mean(offset)), weights)
        builder.store(h, mean(offset))
        for place, other in zip(sums, others, strict=True):
            builder.store(multiply_add(builder, h, load(builder, other, offset), builder.load(place)), place)

    for_each_chunk(builder, chunks, add_products)
    _, error = _score(builder, lane_sums(builder, [builder.load(place) for place in sums]), signs, loss)
    error = builder.fmul(error, broadcast(builder, rate))
    steps = [broadcast_lane(builder, error, j) for j in range(n_targets)]
    input_weights = broadcast(builder, input_weight)

    def move_targets(offset: Value) -> None:
        h, moved = builder.load(mean(offset)), constant_vector(0)
        for step, other in zip(steps, others, strict=True):
            row = load(builder, other, offset)
            moved = multiply_add(builder, step, row, moved)
            store(builder, multiply_add(builder, step, h, row), other, offset)
        builder.store(builder.fmul(moved, input_weights), change(offset))

    for_each_chunk(builder, chunks, move_targets)

    def move(own: Value, offset: Value) -> None:
        store(builder, builder.fadd(load(builder, own, offset), builder.load(change(offset))), own, offset)

    for_each_input(move)


@instruction
def find_duplicates(builder: Builder, n_targets: int, targets: Integer) -> Integer:
    """Find negatives that occur earlier in the list of addresses: bit k for target k.

    The first target is the positive one, which equals none of the others.
    """
    rows = [load_address(builder, targets, constant(j)) for j in range(n_targets)]
    found = constant(0)
    for k in range(2, n_targets):
        same = [builder.icmp_signed("==", rows[k], rows[earlier]) for earlier in range(1, k)]
        bit = builder.zext(reduce(builder.or_, same), Int64)
        found = builder.or_(found, builder.shl(bit, constant(k)))
    return found


@instruction
def copy_row(builder: Builder, source: Integer, target: Integer, chunks: Integer) -> None:
    """Copy a row from one address to another; `chunks` is its length divided by 16."""
    for_each_chunk(builder, chunks, lambda offset: store(builder, load(builder, source, offset), target, offset))


@instruction
def add_movement(
    builder: Builder, row: Integer, after: Integer, before: Integer, scale: Number, chunks: Integer
) -> None:
    """Add scale · (after − before) to a row, where `after` and `before` are rows, too."""
    scales = broadcast(builder, scale)

    def add(offset: Value) -> None:
        movement = builder.fsub(load(builder, after, offset), load(builder, before, offset))
        moved = multiply_add(builder, scales, movement, load(builder, row, offset))
        store(builder, moved, row, offset)

    for_each_chunk(builder, chunks, add)


@instruction
def prefetch_row(builder: Builder, row: Integer, chunks: Integer) -> None:
    """Prefetch a row."""
    for_each_chunk(builder, chunks, lambda offset: prefetch(builder, row, offset))


def _products(builder: Builder, rows: list[Value], others: list[Value], length: int) -> list[list[Value]]:
    """Emit, for each pair of rows, a vector whose lanes sum to their dot product."""
    sums = [allocate_vectors(builder, len(others)) for _ in rows]

    def add_products(offset: Value) -> None:
        left = [load(builder, row, offset) for row in rows]
        for j, other in enumerate(others):
            right = load(builder, other, offset)
            for i, own in enumerate(left):
                builder.store(multiply_add(builder, own, right, builder.load(sums[i][j])), sums[i][j])

    for_each_chunk(builder, length, add_products)
    return [[builder.load(place) for place in own] for own in sums]


def _move_pairs(
    builder: Builder, inputs: Value, n_inputs: Value, others: list[Value], length: int, errors: Value
) -> None:
    """Emit input += Σ error · target and target += Σ error · input; the errors include the learning rate."""
    with cgutils.for_range(builder, constant(length)) as chunk:
        offset = builder.mul(chunk.index, constant(ROW_BYTES))
        before = [load(builder, other, offset) for other in others]
        after = allocate_vectors(builder, len(others))
        for place, row in zip(after, before, strict=True):
            builder.store(row, place)
        with cgutils.for_range(builder, n_inputs) as loop:
            own = load_address(builder, inputs, loop.index)
            left = load(builder, own, offset)
            moved = left
            place_of_errors = builder.mul(loop.index, constant(_ERRORS_BYTES))
            for j, (right, place) in enumerate(zip(before, after, strict=True)):
                step = load_broadcast(builder, errors, builder.add(place_of_errors, constant(4 * j)))
                moved = multiply_add(builder, step, right, moved)
                builder.store(multiply_add(builder, step, left, builder.load(place)), place)
            store(builder, moved, own, offset)
        for other, place in zip(others, after, strict=True):
            store(builder, builder.load(place), other, offset)


def _score(builder: Builder, scores: Value, signs: Sequence[float], loss: Value) -> tuple[Value, Value]:
    """Emit the probability of the correct answer in each lane, σ(sign · score), and the errors, sign · (1 − σ).

    The error is the gradient of log σ(sign · score). The probabilities are multiplied into the loss.

    Args:
        signs: 1 for a positive pair, −1 for a negative one, 0 for an unused lane.
        loss: address of 16 floats between 1 and 2 and then 16 int32; Π p of a lane is float · 2^integer.
    """
    sign = ir.Constant(Floats, [*signs, *[0.0] * (LANES - len(signs))])
    used = ir.Constant(
        ir.VectorType(ir.IntType(1), LANES), [lane < len(signs) and signs[lane] != 0 for lane in range(LANES)]
    )
    probability = builder.select(used, sigmoid(builder, builder.fmul(scores, sign)), constant_vector(1))
    _accumulate_loss(builder, loss, probability)
    return probability, builder.fmul(sign, builder.fsub(constant_vector(1), probability))


def _accumulate_loss(builder: Builder, loss: Value, probability: Value) -> None:
    """Emit Π p ← Π p · probability, with its exponent moved to the integer."""
    bits = builder.bitcast(builder.fmul(load(builder, loss, constant(0)), probability), Ints)
    place = pointer(builder, loss, constant(ROW_BYTES), Ints)
    exponent = builder.sub(builder.lshr(bits, ir.Constant(Ints, [23] * LANES)), ir.Constant(Ints, [127] * LANES))
    builder.store(builder.add(builder.load(place, align=64), exponent), place, align=64)
    fraction = builder.and_(bits, ir.Constant(Ints, [0x7FFFFF] * LANES))
    mantissa = builder.or_(fraction, ir.Constant(Ints, [0x3F800000] * LANES))
    store(builder, builder.bitcast(mantissa, Floats), loss, constant(0))

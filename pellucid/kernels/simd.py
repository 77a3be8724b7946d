"""SIMD on sixteen lanes: instructions for Numba kernels, emitted as LLVM instructions.

Compilers do not find the fast form of a Word2Vec update or of a matrix-vector product, in which many sums of products
stay in registers and each row is read once. This module provides its building blocks for rows of `float32` that are
aligned to 64 bytes and padded to a multiple of 16: loads and stores, sums over lanes, the exponential, the sigmoid.
`word_vectors/updates.py` and `generation/compiled/` compose them. LLVM splits vectors of 16 into what the processor has
(two of 8 with AVX2, four of 4 with NEON).
"""

import math
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Annotated, Any, get_origin, get_type_hints

import numpy
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

__all__ = [
    "LANES",
    "ROW_BYTES",
    "Float",
    "Floats",
    "Int32",
    "Int64",
    "Integer",
    "Ints",
    "Long",
    "Number",
    "aligned_zeros",
    "allocate_row",
    "allocate_vectors",
    "broadcast",
    "broadcast_lane",
    "constant",
    "constant_vector",
    "exp",
    "for_each",
    "for_each_chunk",
    "instruction",
    "lane_sums",
    "load",
    "load_address",
    "maximum",
    "minimum",
    "multiply_add",
    "pointer",
    "prefetch",
    "sigmoid",
    "store",
    "store_unaligned",
]

LANES = 16
ROW_BYTES = 4 * LANES  # the size of a row is a multiple of this
_UNROLLED = 8  # loops over at most this many chunks are unrolled, so that their vectors stay in registers

Float, Int32, Int64 = ir.FloatType(), ir.IntType(32), ir.IntType(64)
Floats, Ints = ir.VectorType(Float, LANES), ir.VectorType(Int32, LANES)

Builder = Any  # llvmlite has no types
Value = Any

# Types of the arguments and results of instructions.
Integer = Annotated[Any, types.int64]
Long = Annotated[Any, types.uint64]
Number = Annotated[Any, types.float32]

# 2^r for −½ ≤ r ≤ ½ as a polynomial, highest power first; its error is below 2e-7 of the value.
_POWER_OF_TWO = (0.0013333558, 0.0096181291, 0.0555041087, 0.2402265070, 0.6931471806, 1.0)
_LOG2_E = 1.4426950408889634
_EXPONENT = 87.0  # e^±87 are floats
_FURTHEST = 40.0  # a score beyond ±40·ln 2 = ±27.7 counts as that: its sigmoid is 1e-12, or 1 to a float's last digit


def aligned_zeros(*shape: int, dtype: Any = numpy.float32) -> NDArray[Any]:
    """Allocate zeros aligned to 64 bytes, with the last axis padded to a multiple of 64 bytes."""
    size = numpy.dtype(dtype).itemsize
    padded = (*shape[:-1], -(-max(1, shape[-1]) * size // ROW_BYTES) * ROW_BYTES // size)
    raw = numpy.zeros(math.prod(padded) * size + ROW_BYTES, numpy.uint8)
    start = -raw.ctypes.data % ROW_BYTES
    rows: NDArray[Any] = raw[start : start + math.prod(padded) * size].view(dtype).reshape(padded)
    return rows


def instruction(emit: Callable[..., Value]) -> Any:
    """Make `emit(builder, *arguments)` callable from kernels.

    Its annotations are the types of the arguments and of the result: `Integer`, `Long`, `Number`, or another type of
    Numba in `Annotated`; None for no result. An `int` is a constant of the kernel, and `emit` gets its value.
    """
    _, *kinds, result = (_numba_type(kind) for kind in get_type_hints(emit, include_extras=True).values())

    @wraps(emit)
    def typed(typing_context: Any, *given: Any) -> Any:
        if any(not kind and not isinstance(own, types.IntegerLiteral) for kind, own in zip(kinds, given, strict=True)):
            raise TypeError(f"the arguments of {emit.__name__} that are `int` must be constants of the kernel")

        def lower(context: Any, builder: Builder, signature: Any, arguments: Any) -> Value:
            values = [
                argument if kind else own.literal_value
                for kind, own, argument in zip(kinds, given, arguments, strict=True)
            ]
            value = emit(builder, *values)
            return value if result else context.get_dummy_value()

        return (result or types.void)(*(kind or own for kind, own in zip(kinds, given, strict=True))), lower

    return intrinsic(prefer_literal=True)(typed)


def _numba_type(annotation: Any) -> types.Type | None:
    return annotation.__metadata__[0] if get_origin(annotation) is Annotated else None


def constant(number: int) -> Value:
    """An int64 constant."""
    return ir.Constant(Int64, number)


def constant_vector(number: float) -> Value:
    """A constant vector with the same number in every lane."""
    return ir.Constant(Floats, [float(numpy.float32(number))] * LANES)


def multiply_add(builder: Builder, a: Value, b: Value, c: Value) -> Value:
    """Emit a · b + c with a single rounding."""
    return _call(builder, "llvm.fma.v16f32", a, b, c)


def load(builder: Builder, address: Value, offset: Value) -> Value:
    """Emit the load of a vector from an address aligned to 64 bytes."""
    return builder.load(pointer(builder, address, offset, Floats), align=64)


def store(builder: Builder, vector: Value, address: Value, offset: Value) -> None:
    """Emit the store of a vector to an address aligned to 64 bytes."""
    builder.store(vector, pointer(builder, address, offset, Floats), align=64)


def store_unaligned(builder: Builder, vector: Value, address: Value, offset: Value) -> None:
    """Emit the store of a vector to an address aligned to 4 bytes."""
    builder.store(vector, pointer(builder, address, offset, Floats), align=4)


def load_address(builder: Builder, addresses: Value, index: Value) -> Value:
    """Emit the load of an element of a list of addresses."""
    return builder.load(pointer(builder, addresses, builder.mul(index, constant(8)), Int64))


def load_broadcast(builder: Builder, address: Value, offset: Value) -> Value:
    """Emit the load of one float, broadcast to all lanes."""
    number = builder.load(pointer(builder, address, offset, Float))
    return broadcast(builder, number)


def broadcast(builder: Builder, number: Value) -> Value:
    """Emit the broadcast of one float to all lanes."""
    nothing = ir.Constant(Floats, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(Int32, 0))
    return _shuffle(builder, first, nothing, [0] * LANES)


def broadcast_lane(builder: Builder, vector: Value, lane: int) -> Value:
    """Emit the broadcast of one lane of a vector to all lanes."""
    return _shuffle(builder, vector, vector, [lane] * LANES)


def for_each_chunk(builder: Builder, chunks: int | Value, body: Callable[[Value], None]) -> None:
    """Emit `body(offset)` for each chunk of 16 numbers of a row; `chunks` may be a runtime value."""
    if isinstance(chunks, int) and chunks <= _UNROLLED:
        for chunk in range(chunks):
            body(constant(chunk * ROW_BYTES))
    else:
        count = constant(chunks) if isinstance(chunks, int) else chunks
        with cgutils.for_range(builder, count) as loop:
            body(builder.mul(loop.index, constant(ROW_BYTES)))


def for_each(builder: Builder, count: Value, body: Callable[[Value], None]) -> None:
    """Emit `body(index)` for 0 to `count` − 1, at least once.

    LLVM may do what comes before only where a loop is entered, and if that needs vectors of before, keeps all of
    them: this one is always entered.
    """
    before, block = builder.block, builder.append_basic_block("each")
    builder.branch(block)
    builder.position_at_end(block)
    index = builder.phi(Int64)
    index.add_incoming(constant(0), before)
    body(index)
    following = builder.add(index, constant(1))
    index.add_incoming(following, builder.block)
    after = builder.append_basic_block("done")
    builder.cbranch(builder.icmp_signed("<", following, count), block, after)
    builder.position_at_end(after)


def allocate_row(builder: Builder, chunks: int) -> Callable[[Value], Value]:
    """Emit a local row, in registers if it is short; return a function from offset to the chunk's address."""
    places = cgutils.alloca_once(builder, ir.ArrayType(Floats, chunks))
    places.align = ROW_BYTES

    def place(offset: Value) -> Value:
        known = isinstance(offset, ir.Constant)
        chunk = constant(offset.constant // ROW_BYTES) if known else builder.udiv(offset, constant(ROW_BYTES))
        return builder.gep(places, [constant(0), chunk])

    return place


def allocate_vectors(builder: Builder, count: int) -> list[Value]:
    """Emit vectors initialised to zero; LLVM keeps them in registers."""
    places = [cgutils.alloca_once(builder, Floats) for _ in range(count)]
    for place in places:
        builder.store(constant_vector(0), place)
    return places


def prefetch(builder: Builder, address: Value, offset: Value) -> None:
    """Emit a prefetch of 64 bytes."""
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, Int32, Int32, Int32])
    ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    reading, keep_it, data = ir.Constant(Int32, 0), ir.Constant(Int32, 3), ir.Constant(Int32, 1)
    builder.call(ask, [pointer(builder, address, offset, ir.IntType(8)), reading, keep_it, data])


def lane_sums(builder: Builder, vectors: Sequence[Value | None]) -> Value:
    """Emit one vector whose lane i is the sum over the lanes of `vectors[i]`, or 0 where that is None or missing.

    Four levels of adding what two shuffles pick from a pair of vectors: 16 vectors → 8 → 4 → 2 → 1.
    """
    level: list[Value | None] = [*vectors, *[None] * (LANES - len(vectors))]
    for some, others in _LEVELS:
        pairs = list(zip(level[::2], level[1::2], strict=True))
        level = []
        for a, b in pairs:
            if a is None and b is None:
                level.append(None)
                continue
            a, b = (constant_vector(0) if vector is None else vector for vector in (a, b))
            parts = _shuffle(builder, a, b, some), _shuffle(builder, a, b, others)
            level.append(builder.fadd(*parts, flags=("fast",)))
    return level[0]


def exp(builder: Builder, vector: Value) -> Value:
    """Emit e^x; 0 below −87, about the smallest float, and at most e^87."""
    bounded = maximum(builder, minimum(builder, vector, constant_vector(_EXPONENT)), constant_vector(-_EXPONENT))
    value = _power_of_two(builder, builder.fmul(bounded, constant_vector(_LOG2_E)))
    return builder.select(builder.fcmp_ordered(">", vector, constant_vector(-_EXPONENT)), value, constant_vector(0))


def sigmoid(builder: Builder, scores: Value) -> Value:
    """Emit 1 / (1 + e^−score)."""
    power = builder.fmul(scores, constant_vector(-_LOG2_E))
    power = minimum(builder, maximum(builder, power, constant_vector(-_FURTHEST)), constant_vector(_FURTHEST))
    return builder.fdiv(constant_vector(1), builder.fadd(_power_of_two(builder, power), constant_vector(1)))


def maximum(builder: Builder, a: Value, b: Value) -> Value:
    """Emit the lane-wise maximum."""
    return _call(builder, "llvm.maxnum.v16f32", a, b)


def minimum(builder: Builder, a: Value, b: Value) -> Value:
    """Emit the lane-wise minimum."""
    return _call(builder, "llvm.minnum.v16f32", a, b)


def _call(builder: Builder, name: str, *arguments: Value) -> Value:
    kind = ir.FunctionType(arguments[0].type, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def pointer(builder: Builder, address: Value, offset: Value, kind: ir.Type) -> Value:
    """Emit a pointer to an address plus an offset in bytes."""
    return builder.inttoptr(builder.add(address, offset), kind.as_pointer())


def _shuffle(builder: Builder, a: Value, b: Value, lanes: Sequence[int]) -> Value:
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(Int32, len(lanes)), list(lanes)))


def _quads(pattern: str) -> tuple[int, ...]:
    """The lanes of a shuffle that does the same in each quarter: "a0 b0 …" are lanes of the two vectors."""
    named = [(LANES if name[0] == "b" else 0) + int(name[1]) for name in pattern.split()]
    return tuple(4 * quarter + lane for quarter in range(4) for lane in named)


def _quarters(pattern: str) -> tuple[int, ...]:
    """The lanes of a shuffle that moves whole quarters: "a0 b0 …" are quarters of the two vectors."""
    named = [(LANES if name[0] == "b" else 0) + 4 * int(name[1]) for name in pattern.split()]
    return tuple(first + lane for first in named for lane in range(4))


_LEVELS = (
    (_quads("a0 b0 a1 b1"), _quads("a2 b2 a3 b3")),
    (_quads("a0 a1 b0 b1"), _quads("a2 a3 b2 b3")),
    (_quarters("a0 a1 b0 b1"), _quarters("a2 a3 b2 b3")),
    (_quarters("a0 a2 b0 b2"), _quarters("a1 a3 b1 b3")),
)


def _power_of_two(builder: Builder, power: Value) -> Value:
    """Emit 2^power = 2^n · 2^r with integer n and |r| ≤ ½, for powers in the range of a float."""
    whole = _call(builder, "llvm.rint.v16f32", power)
    rest = builder.fsub(power, whole)
    value = constant_vector(_POWER_OF_TWO[0])
    for coefficient in _POWER_OF_TWO[1:]:
        value = multiply_add(builder, value, rest, constant_vector(coefficient))
    exponent = builder.shl(builder.fptosi(whole, Ints), ir.Constant(Ints, [23] * LANES))
    return builder.bitcast(builder.add(builder.bitcast(value, Ints), exponent), Floats)

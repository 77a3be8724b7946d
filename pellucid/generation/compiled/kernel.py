"""The kernel that runs a compiled model: a loop over its ops, with a barrier after each.

An op is a row of integers: an opcode, then its operands. The numbers of a model and of its tokens are in one float32
array, the arena, and are addressed by their offset in it; matrices are addressed by pointer. Several tokens, of one
text or of several, are processed together, up to as many as the arena has rows for: so a matrix is read once for all
of them, and each gives the same result as it does alone.
"""

import math
from collections.abc import Callable
from typing import Any

from pellucid.generation.compiled import instructions, packing
from pellucid.generation.compiled.instructions import (
    GELU,
    GELU_TANH,
    RELU,
    activate_chunks,
    dot_group,
    exponentials,
    gate,
    row_maximum,
    score_keys,
    unpack,
    weighted_sum,
)
from pellucid.generation.compiled.packing import BFLOAT16, BLOCK, FLOAT32, INT8, ROWS
from pellucid.kernels import barrier, simd
from pellucid.kernels.barrier import wait_at_barrier
from pellucid.kernels.compilation import kernel_using
from pellucid.kernels.simd import LANES

__all__ = [
    "ACTIVATE",
    "ADD_ENCODING",
    "APPEND",
    "ATTEND",
    "EMBED",
    "GATE",
    "ID",
    "LAYER_NORM",
    "MATMUL",
    "MATMUL_LAST",
    "POSITION",
    "RMS_NORM",
    "ROTATE",
    "TEXT",
    "run",
]

EMBED, ADD_ENCODING, LAYER_NORM, RMS_NORM, MATMUL, MATMUL_LAST, ROTATE, APPEND, ATTEND, GATE, ACTIVATE = range(11)
ID, TEXT, POSITION = range(3)  # columns of what says which tokens
_TOKENS = 4  # at once in a product
_NEVER = -1e30  # score of a key that must not be attended to: its weight is exactly 0

_using = kernel_using(simd, barrier, packing, instructions)


@_using
def embed(op: Any, factor: Any, arena: Any, tokens: Any, thread: Any, threads: Any) -> None:
    """Look up the embedding of each token.

    Operands: the packed matrix's kind, address and chunks; place of its scales; place and length of the tokens' rows.
    """
    kind, weights, chunks, out, stride = op[1], op[2], op[3], op[5], op[6]
    size = 4 if kind == FLOAT32 else 2 if kind == BFLOAT16 else 1
    blocks = (chunks + BLOCK - 1) // BLOCK
    for token in range(thread, len(tokens), threads):
        number = tokens[token, ID]
        row = weights + ((number // ROWS) * chunks * ROWS + number % ROWS) * LANES * size
        place = arena.ctypes.data + 4 * (out + token * stride)
        scales = arena.ctypes.data + 4 * (op[4] + number // ROWS * blocks * ROWS + number % ROWS)
        if kind == FLOAT32:
            unpack(FLOAT32, row, chunks, scales, factor, place)
        elif kind == BFLOAT16:
            unpack(BFLOAT16, row, chunks, scales, factor, place)
        else:
            unpack(INT8, row, chunks, scales, factor, place)


@_using
def add_encoding(op: Any, arena: Any, table: Any, tokens: Any, thread: Any, threads: Any) -> None:
    """Add the positional encoding to each token's row.

    Operands: place and length of the rows.
    """
    out, stride = op[1], op[2]
    for token in range(thread, len(tokens), threads):
        for i in range(table.shape[1]):
            arena[out + token * stride + i] += table[tokens[token, POSITION], i]


@_using
def layer_norm(op: Any, epsilon: Any, arena: Any, count: Any, thread: Any, threads: Any) -> None:
    """Apply layer normalisation to each row; sums in float64.

    Operands: place and length of the rows read; rows a token, from which place to which in a token's row; numbers that
    count in a row; places of the scale and of the shift; place and length of the rows written.
    """
    x, x_stride, rows, width = op[1], op[2], op[3], op[5]
    weight, bias, out, out_stride = op[6], op[7], op[8], op[9]
    for number in range(thread, count * rows, threads):
        token, place = number // rows, number % rows * op[4]
        read, written = x + token * x_stride + place, out + token * out_stride + place
        mean, variance = 0.0, 0.0
        for i in range(width):
            mean += arena[read + i]
        mean /= width
        for i in range(width):
            variance += (arena[read + i] - mean) ** 2
        factor = 1.0 / math.sqrt(variance / width + epsilon)
        for i in range(width):
            arena[written + i] = (arena[read + i] - mean) * factor * arena[weight + i] + arena[bias + i]


@_using
def rms_norm(op: Any, epsilon: Any, arena: Any, count: Any, thread: Any, threads: Any) -> None:
    """Apply RMS normalisation to each row; sums in float64.

    Operands: as for `layer_norm`.
    """
    x, x_stride, rows, width = op[1], op[2], op[3], op[5]
    weight, out, out_stride = op[6], op[8], op[9]
    for number in range(thread, count * rows, threads):
        token, place = number // rows, number % rows * op[4]
        read, written = x + token * x_stride + place, out + token * out_stride + place
        square = 0.0
        for i in range(width):
            square += arena[read + i] * arena[read + i]
        factor = 1.0 / math.sqrt(square / width + epsilon)
        for i in range(width):
            arena[written + i] = arena[read + i] * factor * arena[weight + i]


def _multiplying(kind: int) -> Callable[..., None]:
    """Create the kernel of `multiply` for matrices of one kind."""
    size = 4 if kind == FLOAT32 else 2 if kind == BFLOAT16 else 1

    @_using
    def multiply(op: Any, arena: Any, first: Any, count: Any, thread: Any, threads: Any) -> None:
        groups, group_bytes = op[3], op[4] * ROWS * LANES * size
        group_scales = (op[4] + BLOCK - 1) // BLOCK * ROWS
        data = arena.ctypes.data
        x_stride, base_stride, out_stride = 4 * op[8], 4 * op[10], 4 * op[12]
        for group in range(groups * thread // threads, groups * (thread + 1) // threads):
            weights, place = op[2] + group * group_bytes, 4 * ROWS * group
            scales, bias = data + 4 * (op[5] + group * group_scales), data + 4 * op[6] + place
            x = data + 4 * op[7] + first * x_stride
            base = data + 4 * op[9] + first * base_stride + place
            out = data + 4 * op[11] + first * out_stride + place
            left = count
            while left >= _TOKENS:
                dot_group(kind, _TOKENS, weights, op[4], x, x_stride, scales, bias, base, base_stride, out, out_stride)
                x, base, out = x + _TOKENS * x_stride, base + _TOKENS * base_stride, out + _TOKENS * out_stride
                left -= _TOKENS
            while left:
                dot_group(kind, 1, weights, op[4], x, x_stride, scales, bias, base, base_stride, out, out_stride)
                x, base, out = x + x_stride, base + base_stride, out + out_stride
                left -= 1

    return multiply


_multiply_float32, _multiply_bfloat16, _multiply_int8 = (_multiplying(kind) for kind in (FLOAT32, BFLOAT16, INT8))


@_using
def multiply(op: Any, arena: Any, first: Any, count: Any, thread: Any, threads: Any) -> None:
    """Compute base + matrix · x + bias for `count` tokens from `first` on; threads share the rows of the matrix.

    Operands: the packed matrix's kind, address, groups and chunks; offsets of its scales and of the bias; offset and
    length of the rows read; offset and length of those added (length 0: the same for all); offset and length of those
    written.
    """
    kind = op[1]
    if kind == INT8:
        _multiply_int8(op, arena, first, count, thread, threads)
    elif kind == BFLOAT16:
        _multiply_bfloat16(op, arena, first, count, thread, threads)
    else:
        _multiply_float32(op, arena, first, count, thread, threads)


@_using
def rotate(op: Any, arena: Any, table: Any, tokens: Any, thread: Any, threads: Any) -> None:
    """Rotate each token's queries and keys by its position.

    Operands: place and length of the rows; heads, which come first in them; numbers from one head to the next.
    """
    x, stride, heads, length = op[1], op[2], op[3], op[4]
    half = table.shape[1] // 2
    for number in range(thread, len(tokens) * heads, threads):
        token = number // heads
        position = tokens[token, POSITION]
        place = x + token * stride + number % heads * length
        for i in range(half):
            cosine, sine = table[position, i], table[position, half + i]
            left, right = arena[place + i], arena[place + half + i]
            arena[place + i] = left * cosine - right * sine
            arena[place + half + i] = left * sine + right * cosine


@_using
def append(op: Any, arena: Any, cache: Any, tokens: Any, thread: Any, threads: Any) -> None:
    """Append each token's keys and values to the cache.

    Operands: the block's number; place of the first keys, and of the first values; length of the tokens' rows.
    """
    block, key, value, stride = op[1], op[2], op[3], op[4]
    heads, length = cache.shape[3], cache.shape[5]
    for number in range(thread, len(tokens) * heads, threads):
        token, head = number // heads, number % heads
        text, position = tokens[token, TEXT], tokens[token, POSITION]
        place = token * stride + head * length
        for i in range(length):
            cache[text, block, 0, head, position, i] = arena[key + place + i]
            cache[text, block, 1, head, position, i] = arena[value + place + i]


@_using
def attend(op: Any, scale: Any, arena: Any, cache: Any, scores: Any, tokens: Any, thread: Any, threads: Any) -> None:
    """Attend in each head of each token: softmax(q · k · scale − slope · distance) v.

    Operands: the block's number; heads; place and length of the queries' rows; place of the slopes; place and length of
    the rows written.
    """
    block, heads, query, stride = op[1], op[2], op[3], op[4]
    slopes, out, out_stride = op[5], op[6], op[7]
    blocks, kv_heads, room, length = cache.shape[1], cache.shape[3], cache.shape[4], cache.shape[5]
    own_scores = scores[thread]
    place, data = own_scores.ctypes.data, arena.ctypes.data
    for number in range(thread, len(tokens) * heads, threads):
        token, head = number // heads, number % heads
        seen = tokens[token, POSITION] + 1
        chunks = (seen + LANES - 1) // LANES
        own = data + 4 * (query + token * stride + head * length)
        known = (tokens[token, TEXT] * blocks + block) * 2 * kv_heads + head * kv_heads // heads
        keys = cache.ctypes.data + 4 * length * room * known
        values = keys + 4 * length * room * kv_heads
        for chunk in range(chunks):
            key, distance = keys + 4 * LANES * length * chunk, seen - 1 - chunk * LANES
            written = place + 4 * LANES * chunk
            score_keys(own, key, length // LANES, scale, arena[slopes + head], distance, written)
        for i in range(seen, chunks * LANES):
            own_scores[i] = _NEVER
        total = exponentials(place, chunks, row_maximum(place, chunks))
        written = data + 4 * (out + token * out_stride + head * length)
        weighted_sum(place, values, chunks * LANES, length // LANES, 1.0 / total, written)


@_using
def apply_gates(op: Any, arena: Any, count: Any, thread: Any, threads: Any) -> None:
    """Multiply each token's values by their gates: silu(gate) · value, written in the place of the gates.

    Operands: place and length of the rows; chunks of gates, behind which the values stand.
    """
    x, stride, chunks = op[1], op[2], op[3]
    first, last = chunks * thread // threads, chunks * (thread + 1) // threads
    for token in range(count):
        place = arena.ctypes.data + 4 * (x + token * stride + first * LANES)
        gate(place, place + 4 * chunks * LANES, last - first)


@_using
def activate(op: Any, arena: Any, count: Any, thread: Any, threads: Any) -> None:
    """Apply the activation to each token's hidden numbers.

    Operands: place and length of the rows; chunks; which activation, RELU, GELU_TANH or GELU.
    """
    x, stride, chunks, how = op[1], op[2], op[3], op[4]
    first, last = chunks * thread // threads, chunks * (thread + 1) // threads
    for token in range(count):
        place = arena.ctypes.data + 4 * (x + token * stride + first * LANES)
        if how == RELU:
            activate_chunks(RELU, place, last - first)
        elif how == GELU_TANH:
            activate_chunks(GELU_TANH, place, last - first)
        else:
            activate_chunks(GELU, place, last - first)


@_using
def run(
    ops: Any,
    scalars: Any,
    arena: Any,
    cache: Any,
    scores: Any,
    table: Any,
    tokens: Any,
    wanted: Any,
    thread: Any,
    threads: Any,
    barrier: Any,
) -> None:
    """Process some tokens; every thread calls this with the same arguments except for its number.

    Args:
        ops: opcode and operands, int64 [ops operands].
        scalars: a parameter of each op, float32 [ops]: an epsilon, a factor.
        cache: keys and values, float32 [texts blocks 2 kv_heads room length].
        scores: float32 [threads room], to work with.
        table: by position, float32 [room …]: cosines and sines, or encodings.
        tokens: of each its id, its text, and its position there, int64 [tokens 3]; those of a text in order.
        wanted: how many of the last tokens get logits.
    """
    count = len(tokens)
    for number in range(len(ops)):
        op, scalar = ops[number], scalars[number]
        opcode = op[0]
        if opcode == MATMUL:
            multiply(op, arena, 0, count, thread, threads)
        elif opcode == RMS_NORM:
            rms_norm(op, scalar, arena, count, thread, threads)
        elif opcode == LAYER_NORM:
            layer_norm(op, scalar, arena, count, thread, threads)
        elif opcode == ROTATE:
            rotate(op, arena, table, tokens, thread, threads)
        elif opcode == APPEND:
            append(op, arena, cache, tokens, thread, threads)
        elif opcode == ATTEND:
            attend(op, scalar, arena, cache, scores, tokens, thread, threads)
        elif opcode == GATE:
            apply_gates(op, arena, count, thread, threads)
        elif opcode == ACTIVATE:
            activate(op, arena, count, thread, threads)
        elif opcode == EMBED:
            embed(op, scalar, arena, tokens, thread, threads)
        elif opcode == ADD_ENCODING:
            add_encoding(op, arena, table, tokens, thread, threads)
        elif wanted:
            multiply(op, arena, count - wanted, wanted, thread, threads)
        wait_at_barrier(barrier, threads)

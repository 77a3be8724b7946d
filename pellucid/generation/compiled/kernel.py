"""The kernel that runs a compiled model: a loop over its steps, at each of which all threads meet.

A step is a row of whole numbers: which operation, then what it works on. Numbers of a model and of its tokens lie in
one array of float32, the arena, and are named by their place in it; matrices are named by their address. Several
tokens, of one text or of several, go through together, up to as many as the arena has rows for; so a matrix is read
once for all of them, and each comes out as if it were alone.
"""

import math
from collections.abc import Callable
from typing import Any

from pellucid.generation.compiled import instructions, packing
from pellucid.generation.compiled.instructions import (
    GELU,
    GELU_TANH,
    RELU,
    bend,
    exponentials,
    gate,
    highest,
    mix_values,
    product,
    score_keys,
    unpack,
)
from pellucid.generation.compiled.packing import BFLOAT16, BLOCK, FLOAT32, INT8, ROWS
from pellucid.kernels import barrier, simd
from pellucid.kernels.barrier import wait_at_barrier
from pellucid.kernels.compilation import kernel_using
from pellucid.kernels.simd import LANES

__all__ = [
    "ADD_CODES",
    "ATTEND",
    "BEND",
    "EMBED",
    "GATE",
    "ID",
    "LAYER_NORM",
    "MULTIPLY",
    "MULTIPLY_LAST",
    "POSITION",
    "REMEMBER",
    "RMS_NORM",
    "TEXT",
    "TURN",
    "run",
]

EMBED, ADD_CODES, LAYER_NORM, RMS_NORM, MULTIPLY, MULTIPLY_LAST, TURN, REMEMBER, ATTEND, GATE, BEND = range(11)
ID, TEXT, POSITION = range(3)  # columns of what says which tokens
_TOKENS = 4  # at once in a product
_NEVER = -1e30  # score of a key that may not be looked at: its weight is exactly 0

_using = kernel_using(simd, barrier, packing, instructions)


@_using
def embed(step: Any, factor: Any, arena: Any, tokens: Any, thread: Any, threads: Any) -> None:
    """Write each token's row of the embedding.

    Step: the packed matrix's kind, address and chunks; place of its scales; place and length of the tokens' rows.
    """
    kind, weights, chunks, out, stride = step[1], step[2], step[3], step[5], step[6]
    size = 4 if kind == FLOAT32 else 2 if kind == BFLOAT16 else 1
    blocks = (chunks + BLOCK - 1) // BLOCK
    for token in range(thread, len(tokens), threads):
        number = tokens[token, ID]
        row = weights + ((number // ROWS) * chunks * ROWS + number % ROWS) * LANES * size
        place = arena.ctypes.data + 4 * (out + token * stride)
        scales = arena.ctypes.data + 4 * (step[4] + number // ROWS * blocks * ROWS + number % ROWS)
        if kind == FLOAT32:
            unpack(FLOAT32, row, chunks, scales, factor, place)
        elif kind == BFLOAT16:
            unpack(BFLOAT16, row, chunks, scales, factor, place)
        else:
            unpack(INT8, row, chunks, scales, factor, place)


@_using
def add_codes(step: Any, arena: Any, table: Any, tokens: Any, thread: Any, threads: Any) -> None:
    """Add to each token's row the code of its position.

    Step: place and length of the rows.
    """
    out, stride = step[1], step[2]
    for token in range(thread, len(tokens), threads):
        for i in range(table.shape[1]):
            arena[out + token * stride + i] += table[tokens[token, POSITION], i]


@_using
def layer_norm(step: Any, epsilon: Any, arena: Any, count: Any, thread: Any, threads: Any) -> None:
    """Write each row without its mean, divided by its standard deviation, scaled and shifted; sums in float64.

    Step: place and length of the rows read; rows a token, from which place to which in a token's row; numbers that
    count in a row; places of the scale and of the shift; place and length of the rows written.
    """
    x, x_stride, rows, width = step[1], step[2], step[3], step[5]
    weight, bias, out, out_stride = step[6], step[7], step[8], step[9]
    for number in range(thread, count * rows, threads):
        token, place = number // rows, number % rows * step[4]
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
def rms_norm(step: Any, epsilon: Any, arena: Any, count: Any, thread: Any, threads: Any) -> None:
    """Write each row divided by its root mean square, scaled; sums in float64.

    Step: as for `layer_norm`.
    """
    x, x_stride, rows, width = step[1], step[2], step[3], step[5]
    weight, out, out_stride = step[6], step[8], step[9]
    for number in range(thread, count * rows, threads):
        token, place = number // rows, number % rows * step[4]
        read, written = x + token * x_stride + place, out + token * out_stride + place
        square = 0.0
        for i in range(width):
            square += arena[read + i] * arena[read + i]
        factor = 1.0 / math.sqrt(square / width + epsilon)
        for i in range(width):
            arena[written + i] = arena[read + i] * factor * arena[weight + i]


def _multiplying(kind: int) -> Callable[..., None]:
    """Return the kernel of `multiply` for matrices of one kind."""
    size = 4 if kind == FLOAT32 else 2 if kind == BFLOAT16 else 1

    @_using
    def multiply(step: Any, arena: Any, first: Any, count: Any, thread: Any, threads: Any) -> None:
        groups, group_bytes = step[3], step[4] * ROWS * LANES * size
        group_scales = (step[4] + BLOCK - 1) // BLOCK * ROWS
        data = arena.ctypes.data
        x_stride, base_stride, out_stride = 4 * step[8], 4 * step[10], 4 * step[12]
        for group in range(groups * thread // threads, groups * (thread + 1) // threads):
            weights, place = step[2] + group * group_bytes, 4 * ROWS * group
            scales, bias = data + 4 * (step[5] + group * group_scales), data + 4 * step[6] + place
            x = data + 4 * step[7] + first * x_stride
            base = data + 4 * step[9] + first * base_stride + place
            out = data + 4 * step[11] + first * out_stride + place
            left = count
            while left >= _TOKENS:
                product(kind, _TOKENS, weights, step[4], x, x_stride, scales, bias, base, base_stride, out, out_stride)
                x, base, out = x + _TOKENS * x_stride, base + _TOKENS * base_stride, out + _TOKENS * out_stride
                left -= _TOKENS
            while left:
                product(kind, 1, weights, step[4], x, x_stride, scales, bias, base, base_stride, out, out_stride)
                x, base, out = x + x_stride, base + base_stride, out + out_stride
                left -= 1

    return multiply


_multiply_float32, _multiply_bfloat16, _multiply_int8 = (_multiplying(kind) for kind in (FLOAT32, BFLOAT16, INT8))


@_using
def multiply(step: Any, arena: Any, first: Any, count: Any, thread: Any, threads: Any) -> None:
    """Write base + matrix · x + bias for `count` tokens from the first on; each thread has its share of the rows.

    Step: the packed matrix's kind, address, groups and chunks; places of its scales and of the bias; place and length
    of the rows read; place and length of those added (length 0: the same for all); place and length of those written.
    """
    kind = step[1]
    if kind == INT8:
        _multiply_int8(step, arena, first, count, thread, threads)
    elif kind == BFLOAT16:
        _multiply_bfloat16(step, arena, first, count, thread, threads)
    else:
        _multiply_float32(step, arena, first, count, thread, threads)


@_using
def turn(step: Any, arena: Any, table: Any, tokens: Any, thread: Any, threads: Any) -> None:
    """Turn each token's queries and keys by its position.

    Step: place and length of the rows; heads, which come first in them; numbers from one head to the next.
    """
    x, stride, heads, length = step[1], step[2], step[3], step[4]
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
def remember(step: Any, arena: Any, cache: Any, tokens: Any, thread: Any, threads: Any) -> None:
    """Write each token's keys and values to the cache.

    Step: the block's number; place of the first keys, and of the first values; length of the tokens' rows.
    """
    block, key, value, stride = step[1], step[2], step[3], step[4]
    heads, length = cache.shape[3], cache.shape[5]
    for number in range(thread, len(tokens) * heads, threads):
        token, head = number // heads, number % heads
        text, position = tokens[token, TEXT], tokens[token, POSITION]
        place = token * stride + head * length
        for i in range(length):
            cache[text, block, 0, head, position, i] = arena[key + place + i]
            cache[text, block, 1, head, position, i] = arena[value + place + i]


@_using
def attend(step: Any, scale: Any, arena: Any, cache: Any, scores: Any, tokens: Any, thread: Any, threads: Any) -> None:
    """Mix the values that each head of each token looks at: softmax(q · k · scale − slope · distance) v.

    Step: the block's number; heads; place and length of the queries' rows; place of the slopes; place and length of the
    rows written.
    """
    block, heads, query, stride = step[1], step[2], step[3], step[4]
    slopes, out, out_stride = step[5], step[6], step[7]
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
        total = exponentials(place, chunks, highest(place, chunks))
        written = data + 4 * (out + token * out_stride + head * length)
        mix_values(place, values, chunks * LANES, length // LANES, 1.0 / total, written)


@_using
def open_gates(step: Any, arena: Any, count: Any, thread: Any, threads: Any) -> None:
    """Let each token's gates through: silu(gate) · value, written where the gates are.

    Step: place and length of the rows; chunks of gates, behind which the values stand.
    """
    x, stride, chunks = step[1], step[2], step[3]
    first, last = chunks * thread // threads, chunks * (thread + 1) // threads
    for token in range(count):
        place = arena.ctypes.data + 4 * (x + token * stride + first * LANES)
        gate(place, place + 4 * chunks * LANES, last - first)


@_using
def activate(step: Any, arena: Any, count: Any, thread: Any, threads: Any) -> None:
    """Replace each token's hidden numbers by their activation.

    Step: place and length of the rows; chunks; which activation, RELU, GELU_TANH or GELU.
    """
    x, stride, chunks, how = step[1], step[2], step[3], step[4]
    first, last = chunks * thread // threads, chunks * (thread + 1) // threads
    for token in range(count):
        place = arena.ctypes.data + 4 * (x + token * stride + first * LANES)
        if how == RELU:
            bend(RELU, place, last - first)
        elif how == GELU_TANH:
            bend(GELU_TANH, place, last - first)
        else:
            bend(GELU, place, last - first)


@_using
def run(
    steps: Any,
    numbers: Any,
    arena: Any,
    cache: Any,
    scores: Any,
    table: Any,
    tokens: Any,
    wanted: Any,
    thread: Any,
    threads: Any,
    place: Any,
) -> None:
    """Take some tokens through the model; every thread calls this with the same but for its number.

    Args:
        steps: int64 [steps operands].
        numbers: a float32 that a step needs, [steps]: an epsilon, a factor.
        arena: float32.
        cache: keys and values, float32 [texts blocks 2 kv_heads room length].
        scores: float32 [threads room], to work with.
        table: by position, float32 [room …]: cosines and sines, or codes.
        tokens: of each its id, its text, and its position there, int64 [tokens 3]; those of a text in order.
        wanted: so many of the last tokens get logits.
        place: where the threads meet.
    """
    count = len(tokens)
    for number in range(len(steps)):
        step, given = steps[number], numbers[number]
        operation = step[0]
        if operation == MULTIPLY:
            multiply(step, arena, 0, count, thread, threads)
        elif operation == RMS_NORM:
            rms_norm(step, given, arena, count, thread, threads)
        elif operation == LAYER_NORM:
            layer_norm(step, given, arena, count, thread, threads)
        elif operation == TURN:
            turn(step, arena, table, tokens, thread, threads)
        elif operation == REMEMBER:
            remember(step, arena, cache, tokens, thread, threads)
        elif operation == ATTEND:
            attend(step, given, arena, cache, scores, tokens, thread, threads)
        elif operation == GATE:
            open_gates(step, arena, count, thread, threads)
        elif operation == BEND:
            activate(step, arena, count, thread, threads)
        elif operation == EMBED:
            embed(step, given, arena, tokens, thread, threads)
        elif operation == ADD_CODES:
            add_codes(step, arena, table, tokens, thread, threads)
        elif wanted:
            multiply(step, arena, count - wanted, wanted, thread, threads)
        wait_at_barrier(place, threads)

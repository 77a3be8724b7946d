"""Negatives sampled from a noise table, eight at a time.

The 64 random bits of a candidate choose a group of the table, or its alias; then a member of the group, among those
that this worker may sample in this round; then whether the candidate is accepted. There are no branches, so eight
candidates are processed in the lanes of a vector; rejected ones are removed afterwards.

Source:
    Vose 1991 for the alias method; Steele et al. 2014 (splitmix64) for the bits.
"""

from typing import Annotated, Any, NamedTuple

from llvmlite import ir
from numba import int64, types, uint64
from numba.core import cgutils

from pellucid.kernels import simd
from pellucid.kernels.compilation import kernel, kernel_using
from pellucid.kernels.simd import Builder, Int32, Int64, Long, Value, constant, instruction

__all__ = ["BATCH", "NegativeSampler", "OutputRows", "choose_member", "output_row", "random_bits", "sample_rows"]

BATCH = 64  # candidates sampled before rejected ones are removed
_WIDTH = 8
_TRIES = 64  # maximum number of candidates per negative
_LOW = 0xFFFFFFFF
_STEP, _MIX, _MIX_AGAIN = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_MEMBER, _CHOSEN, _KEYED = 0xD6E8FEB86659FD93, 0x9E3779B1, 0x2545F4914F6CDD1D

_Three = Annotated[Any, types.UniTuple(types.uint64, 3)]
_Four = Annotated[Any, types.UniTuple(types.uint64, 4)]
_Longs = ir.VectorType(Int64, _WIDTH)
_Flags = ir.VectorType(ir.IntType(1), _WIDTH)


class NegativeSampler(NamedTuple):
    """The noise table, and which of its words this worker may sample in this round.

    A group is split into sets of `n_samplers` words. Each worker may sample a different word of a set, chosen by the
    key of the round.
    """

    entries: Any
    accept: Any
    group: Any
    n_samplers: Any
    key: Any
    worker: Any


class OutputRows(NamedTuple):
    """Addresses of output rows: local copies (address 0 without copies) and the model."""

    slots: Any
    copies: Any
    model: Any
    row_bytes: Any


@kernel_using(simd)
def sample_rows(rows: Any, count: Any, seed: Any, sampler: NegativeSampler, places: OutputRows) -> Any:
    """Sample `count` words and write the addresses of their output rows; `rows` has room for `BATCH` more.

    They are the first accepted ones of a sequence of candidates.
    """
    n_samplers, n_groups = uint64(sampler.n_samplers), len(sampler.entries)
    table = uint64(sampler.entries.ctypes.data), uint64(sampler.accept.ctypes.data), uint64(n_groups)
    own = uint64(sampler.group) // n_samplers, n_samplers, uint64(sampler.key), uint64(sampler.worker)
    copies, model, row_bytes = uint64(places.copies), uint64(places.model), uint64(places.row_bytes)
    output_rows = uint64(places.slots.ctypes.data), copies, model, row_bytes
    batch = uint64(rows.ctypes.data + 8 * count)
    drawn, candidate = 0, 0
    while drawn < count and candidate < _TRIES * (count + BATCH):
        for first in range(0, BATCH, _WIDTH):
            _draw_candidates(
                uint64(seed), uint64(candidate + first), table, own, output_rows, batch + uint64(8 * first)
            )
        for at in range(count, count + BATCH):
            row = rows[at]
            rows[drawn] = row
            drawn += 1 if row >= 0 else 0
        candidate += BATCH
    # Very rare: a group whose counts differ extremely. All groups except the last are full.
    for at in range(drawn, count):
        bits = random_bits(seed, candidate + at)
        rows[at] = output_row(choose_member(bits % uint64(max(1, n_groups - 1)), sampler, bits), places)


@kernel
def random_bits(seed: Any, number: Any) -> Any:
    """Compute 64 random bits from a number, never 0 (splitmix64)."""
    state = uint64(seed) + uint64(_STEP) * (uint64(number) + uint64(1))
    state = (state ^ (state >> uint64(30))) * uint64(_MIX)
    state = (state ^ (state >> uint64(27))) * uint64(_MIX_AGAIN)
    return (state ^ (state >> uint64(31))) | uint64(1)


@kernel
def choose_member(number: Any, sampler: NegativeSampler, bits: Any) -> Any:
    """Choose a random word of a group among those that this worker may sample in this round."""
    sets, n_samplers = uint64(sampler.group // sampler.n_samplers), uint64(sampler.n_samplers)
    chosen = (((bits * uint64(_MEMBER)) >> uint64(32)) * sets) >> uint64(32)
    chosen += uint64(number) * sets
    mixed = ((chosen * uint64(_CHOSEN)) ^ uint64(sampler.key)) * uint64(_KEYED)
    own = (((mixed >> uint64(32)) * n_samplers) >> uint64(32)) + uint64(sampler.worker)
    own -= n_samplers if own >= n_samplers else uint64(0)
    return int64(chosen * n_samplers + own)


@kernel
def output_row(word: Any, places: OutputRows) -> Any:
    """Find the address of a word's output row: the local copy if there is one, else the model's."""
    if places.copies and places.slots[word] >= 0:
        return int64(places.copies + int64(places.slots[word]) * places.row_bytes)
    return int64(places.model + word * places.row_bytes)


@instruction
def _draw_candidates(
    builder: Builder, seed: Long, first: Long, table: _Three, own: _Four, output_rows: _Four, batch: Long
) -> None:
    """Write the rows of the candidates `first` to `first` + 7; −1 for rejected ones.

    Args:
        seed: candidate n has the random bits `random_bits(seed, n)`.
        table: addresses of a `Noise` table's arrays, and its number of groups.
        own: sets per group, samplers, key, worker; see `NegativeSampler`.
        output_rows: the fields of `OutputRows`, with the address of its slots.
        batch: address of 8 int64 to write.
    """
    entries, accept, n_entries = cgutils.unpack_tuple(builder, table)
    sets, n_samplers, key, worker = (_spread(builder, number) for number in cgutils.unpack_tuple(builder, own))
    slots, copies, model, row_bytes = cgutils.unpack_tuple(builder, output_rows)
    bits = _bits(builder, _spread(builder, seed), _spread(builder, first))
    product = builder.mul(_high(builder, bits), _spread(builder, n_entries))
    number, chance = _high(builder, product), builder.and_(product, _splat(_LOW))
    entry = _gather(builder, entries, number, Int64)
    itself = builder.icmp_unsigned("<", builder.and_(bits, _splat(_LOW)), builder.and_(entry, _splat(_LOW)))
    number = builder.select(itself, number, _high(builder, entry))

    chosen = _high(builder, builder.mul(_high(builder, builder.mul(bits, _splat(_MEMBER))), sets))
    chosen = builder.add(chosen, builder.mul(number, sets))
    mixed = builder.xor(builder.mul(chosen, _splat(_CHOSEN)), key)
    mixed = _high(builder, builder.mul(mixed, _splat(_KEYED)))
    member = builder.add(_high(builder, builder.mul(mixed, n_samplers)), worker)
    beyond = builder.icmp_unsigned(">=", member, n_samplers)
    member = builder.select(beyond, builder.sub(member, n_samplers), member)
    word = builder.add(builder.mul(chosen, n_samplers), member)

    bound = builder.zext(_gather(builder, accept, word, Int32), _Longs)
    taken = builder.icmp_unsigned("<", chance, bound)
    length, place = _spread(builder, row_bytes), builder.inttoptr(batch, _Longs.as_pointer())
    row = builder.add(_spread(builder, model), builder.mul(word, length))
    builder.store(builder.select(taken, row, _splat(-1)), place, align=8)
    with builder.if_then(builder.icmp_unsigned("!=", copies, constant(0))):
        slot = builder.sext(_gather(builder, slots, word, Int32), _Longs)
        copy = builder.add(_spread(builder, copies), builder.mul(slot, length))
        row = builder.select(builder.icmp_signed(">=", slot, _splat(0)), copy, row)
        builder.store(builder.select(taken, row, _splat(-1)), place, align=8)


def _bits(builder: Builder, seed: Value, first: Value) -> Value:
    """Emit 64 random bits for each candidate, the same as `random_bits`."""
    number = builder.add(first, ir.Constant(_Longs, list(range(1, _WIDTH + 1))))
    state = builder.add(seed, builder.mul(number, _splat(_STEP)))
    state = builder.mul(builder.xor(state, builder.lshr(state, _splat(30))), _splat(_MIX))
    state = builder.mul(builder.xor(state, builder.lshr(state, _splat(27))), _splat(_MIX_AGAIN))
    return builder.or_(builder.xor(state, builder.lshr(state, _splat(31))), _splat(1))


def _splat(number: int) -> Value:
    return ir.Constant(_Longs, [number] * _WIDTH)


def _spread(builder: Builder, number: Value) -> Value:
    nothing = ir.Constant(_Longs, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(Int32, 0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(Int32, _WIDTH), [0] * _WIDTH))


def _high(builder: Builder, numbers: Value) -> Value:
    """Emit the upper 32 bits."""
    return builder.lshr(numbers, _splat(32))


def _gather(builder: Builder, address: Value, index: Value, kind: Any) -> Value:
    """Emit a gather: the number at each index of an array."""
    vector, size = ir.VectorType(kind, _WIDTH), kind.width // 8
    pointers = ir.VectorType(kind.as_pointer(), _WIDTH)
    places = builder.add(_spread(builder, address), builder.mul(index, _splat(size)))
    name = f"llvm.masked.gather.v{_WIDTH}i{kind.width}.v{_WIDTH}p0"
    read = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(vector, [pointers, Int32, _Flags, vector]), name
    )
    everywhere, nothing = ir.Constant(_Flags, [1] * _WIDTH), ir.Constant(vector, [0] * _WIDTH)
    return builder.call(read, [builder.inttoptr(places, pointers), ir.Constant(Int32, size), everywhere, nothing])

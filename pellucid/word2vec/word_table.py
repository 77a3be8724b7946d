"""Text → numbers of words, counted on the way: one pass over the bytes, in a table that grows.

Each different word gets a number when it is first seen. A word is what stands between white space (Unicode's, as
`str.split` has it); a line feed also ends a sentence. Bytes that are no UTF-8 are letters like any other here; whoever
makes words out of them must look.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy
from numba import int32, int64, uint64
from numpy.typing import NDArray

from pellucid.kernels import kernel

__all__ = ["Scan", "WordTable"]

_SLOTS = 1 << 16
_LETTERS = 1 << 20


class _Table(NamedTuple):
    """What the kernel looks words up in.

    `slots` holds number + 1 and, above it, 32 bits of the hash; 0 is free. Word n is letters[starts[n]:starts[n + 1]].
    `sizes` are how many words and letters there are.
    """

    slots: NDArray[numpy.uint64]
    hashes: NDArray[numpy.uint64]
    counts: NDArray[numpy.int64]
    starts: NDArray[numpy.int64]
    letters: NDArray[numpy.uint8]
    sizes: NDArray[numpy.int64]


class Scan(NamedTuple):
    """What a block of text is: numbers of words, where sentences end among them, and how many bytes were read."""

    numbers: NDArray[numpy.int32]
    ends: NDArray[numpy.int64]
    read: int


class WordTable:
    """All different words seen so far, numbered from 0, with how often they were seen."""

    def __init__(self) -> None:
        self._table = _Table(
            numpy.zeros(_SLOTS, numpy.uint64),
            numpy.zeros(_SLOTS // 2, numpy.uint64),
            numpy.zeros(_SLOTS // 2, numpy.int64),
            numpy.zeros(_SLOTS // 2 + 1, numpy.int64),
            numpy.zeros(_LETTERS, numpy.uint8),
            numpy.zeros(2, numpy.int64),
        )

    def __len__(self) -> int:
        return int(self._table.sizes[0])

    @property
    def counts(self) -> NDArray[numpy.int64]:
        """How often each word was seen."""
        return self._table.counts[: len(self)]

    def words(self) -> list[bytes]:
        """Return all words in the order of their numbers."""
        whole = self._table.letters.tobytes()
        starts = self._table.starts[: len(self) + 1].tolist()
        return [whole[start:end] for start, end in pairwise(starts)]

    def scan(self, block: bytes | memoryview, last: bool) -> Scan:
        """Count and number the words of a block.

        Args:
            block: text; a word at its end is left unread, since it may go on, unless the block is the last.
            last: whether the text ends here.
        """
        data = numpy.frombuffer(block, numpy.uint8)
        numbers = numpy.empty(len(data) // 2 + 1, numpy.int32)
        ends = numpy.empty(len(data) + 1, numpy.int64)
        done = numpy.zeros(3, numpy.int64)  # bytes, words, sentences
        while not _scan(data, last, self._table, numbers, ends, done):
            self._grow()
        return Scan(numbers[: done[1]], ends[: done[2]], int(done[0]))

    def _grow(self) -> None:
        table, size = self._table, len(self)
        if 2 * (size + 1) > len(table.slots):
            slots = numpy.zeros(4 * len(table.slots), numpy.uint64)
            _enter(table.hashes[:size], slots)
            half = len(slots) // 2
            table = table._replace(
                slots=slots,
                hashes=_longer(table.hashes, half),
                counts=_longer(table.counts, half),
                starts=_longer(table.starts, half + 1),
            )
        else:
            table = table._replace(letters=_longer(table.letters, 2 * len(table.letters)))
        self._table = table


def _longer(array: NDArray[Any], length: int) -> NDArray[Any]:
    grown = numpy.zeros(length, array.dtype)
    grown[: len(array)] = array
    return grown


@kernel
def _enter(hashes: Any, slots: Any) -> None:
    """Put words of these hashes, all different, into an empty table."""
    mask = uint64(len(slots) - 1)
    for number in range(len(hashes)):
        place = hashes[number] & mask
        while slots[place]:
            place = (place + uint64(1)) & mask
        slots[place] = (hashes[number] >> uint64(32) << uint64(32)) | uint64(number + 1)


@kernel
def _space(data: Any, at: Any) -> Any:
    """Return how many bytes long the white space at a place is, 0 for none, −1 if the block ends within it."""
    letter = data[at]
    if letter <= 32:
        return 1 if letter == 32 or 9 <= letter <= 13 or 28 <= letter <= 31 else 0
    if letter < 0xC2 or letter > 0xE3:
        return 0
    if letter == 0xC2:  # U+0085, U+00A0
        if at + 1 >= len(data):
            return -1
        return 2 if data[at + 1] == 0x85 or data[at + 1] == 0xA0 else 0
    if letter != 0xE1 and letter != 0xE2 and letter != 0xE3:
        return 0
    if at + 2 >= len(data):
        return -1
    second, third = data[at + 1], data[at + 2]
    if letter == 0xE1:  # U+1680
        return 3 if second == 0x9A and third == 0x80 else 0
    if letter == 0xE3:  # U+3000
        return 3 if second == 0x80 and third == 0x80 else 0
    if second == 0x80:  # U+2000 to U+200A, U+2028, U+2029, U+202F
        return 3 if third <= 0x8A or third == 0xA8 or third == 0xA9 or third == 0xAF else 0
    return 3 if second == 0x81 and third == 0x9F else 0  # U+205F


@kernel
def _same(data: Any, start: Any, letters: Any, begin: Any, length: Any) -> Any:
    i = 0
    while i < length and data[start + i] == letters[begin + i]:
        i += 1
    return i == length


@kernel
def _scan(data: Any, last: Any, table: Any, numbers: Any, ends: Any, done: Any) -> Any:
    """Go on with a block from `done`; return False if the table must grow before the next word."""
    slots, letters = table.slots, table.letters
    mask = uint64(len(slots) - 1)
    at, found, sentences = done[0], done[1], done[2]
    size, used = table.sizes[0], table.sizes[1]
    whole = True
    while at < len(data):
        letter = data[at]
        if letter == 10:
            ends[sentences] = found
            sentences += 1
            at += 1
            continue
        length = _space(data, at)
        if length > 0:
            at += length
            continue
        start = at
        value = uint64(0xCBF29CE484222325)
        while at < len(data):
            letter = data[at]
            if letter <= 32 or 0xC2 <= letter <= 0xE3:
                length = _space(data, at)
                if length > 0 or (length < 0 and not last):
                    break
            value = (value ^ uint64(letter)) * uint64(0x100000001B3)
            at += 1
        if not last and (at == len(data) or length < 0):
            at = start
            break
        value ^= value >> uint64(29)
        tag, place = value >> uint64(32), value & mask
        number = int64(-1)
        while slots[place]:
            if slots[place] >> uint64(32) == tag:
                candidate = int64(slots[place] & uint64(0xFFFFFFFF)) - 1
                begin = table.starts[candidate]
                if table.starts[candidate + 1] - begin == at - start and _same(data, start, letters, begin, at - start):
                    number = candidate
                    break
            place = (place + uint64(1)) & mask
        if number < 0:
            if 2 * (size + 1) > len(slots) or used + at - start > len(letters):
                at, whole = start, False
                break
            number = size
            slots[place] = (tag << uint64(32)) | uint64(number + 1)
            table.hashes[number] = value
            for i in range(at - start):
                letters[used + i] = data[start + i]
            used += at - start
            size += 1
            table.starts[size] = used
        table.counts[number] += 1
        numbers[found] = int32(number)
        found += 1
    done[0], done[1], done[2] = at, found, sentences
    table.sizes[0], table.sizes[1] = size, used
    return whole

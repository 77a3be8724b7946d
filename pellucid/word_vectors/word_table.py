"""Words to ids, counted on the way: one pass over the bytes, in a hash table that grows.

Each distinct word gets a number at its first occurrence. Words are separated by white space (Unicode's, as in
`str.split`); a line feed also ends a sentence. Invalid UTF-8 is treated like any other bytes here and must be checked
when the words are decoded.
"""

from typing import Any, NamedTuple

import numpy
from numba import int32, int64, uint64
from numpy.typing import NDArray

from pellucid.kernels.compilation import kernel
from pellucid.kernels.simd import Builder, Int64, Integer, Long, instruction

__all__ = ["Scan", "WordTable", "renumber"]

_SLOTS = 1 << 16
_LETTERS = 1 << 20


class _Table(NamedTuple):
    """The hash table.

    `slots` holds number + 1 and, above it, 32 bits of the hash; 0 is free. `entries` holds for each word its first
    eight bytes as a number, start and length in `letters`, and count, side by side because they are used together:
    words of up to eight bytes are compared without reading `letters`. `sizes` are the numbers of words and letters.
    """

    slots: NDArray[numpy.uint64]
    entries: NDArray[numpy.uint64]
    letters: NDArray[numpy.uint8]
    sizes: NDArray[numpy.int64]


class Scan(NamedTuple):
    """A scanned block of text: word numbers, where sentences end among them, and the number of bytes read."""

    numbers: NDArray[numpy.int32]
    ends: NDArray[numpy.int64]
    read: int


class WordTable:
    """All distinct words so far, numbered from 0, with their counts."""

    def __init__(self) -> None:
        self._table = _Table(
            numpy.zeros(_SLOTS, numpy.uint64),
            numpy.zeros((_SLOTS // 2, 4), numpy.uint64),
            numpy.zeros(_LETTERS, numpy.uint8),
            numpy.zeros(2, numpy.int64),
        )

    def __len__(self) -> int:
        return int(self._table.sizes[0])

    @property
    def counts(self) -> NDArray[numpy.int64]:
        """Occurrences of each word."""
        return self._table.entries[: len(self), 3].astype(numpy.int64)

    def words(self) -> list[bytes]:
        """List all words in the order of their numbers."""
        whole = self._table.letters.tobytes()
        starts, lengths = self._table.entries[: len(self), 1].tolist(), self._table.entries[: len(self), 2].tolist()
        return [whole[start : start + length] for start, length in zip(starts, lengths, strict=True)]

    def scan(self, block: bytes | memoryview, last: bool) -> Scan:
        """Count and number the words of a block.

        Args:
            block: text; a word at its end is not read, since it may continue, unless the block is the last.
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
            _insert(table.entries[:size], table.letters, slots)
            table = table._replace(slots=slots, entries=_longer(table.entries, len(slots) // 2))
        else:
            table = table._replace(letters=_longer(table.letters, 2 * len(table.letters)))
        self._table = table


def _longer(array: NDArray[Any], length: int) -> NDArray[Any]:
    return numpy.concatenate([array, numpy.zeros((length - len(array), *array.shape[1:]), array.dtype)])


@instruction
def _eight(builder: Builder, address: Integer) -> Long:
    """Load the eight bytes at an address as a little-endian number."""
    return builder.load(builder.inttoptr(address, Int64.as_pointer()), align=1)


@kernel
def _key(letters: Any, start: Any, length: Any) -> Any:
    """Load the first eight of some letters as a number, padded with zeros."""
    if start + 8 <= len(letters):
        key = _eight(letters.ctypes.data + start)
        return key if length >= 8 else key & ((uint64(1) << uint64(8 * length)) - uint64(1))
    key = uint64(0)
    for i in range(min(length, 8)):
        key |= uint64(letters[start + i]) << uint64(8 * i)
    return key


@kernel
def _hash(letters: Any, start: Any, length: Any, key: Any) -> Any:
    """Hash some letters, of which `key` are the first eight."""
    value = (key ^ uint64(length)) * uint64(0x9E3779B97F4A7C15)
    for at in range(8, length, 8):
        value ^= value >> uint64(32)
        value = (value ^ _key(letters, start + at, length - at)) * uint64(0x9E3779B97F4A7C15)
    value ^= value >> uint64(32)
    value *= uint64(0xD6E8FEB86659FD93)
    return value ^ (value >> uint64(32))


@kernel
def _insert(entries: Any, letters: Any, slots: Any) -> None:
    """Insert distinct words into an empty table."""
    mask = uint64(len(slots) - 1)
    for number in range(len(entries)):
        start, length = int64(entries[number, 1]), int64(entries[number, 2])
        value = _hash(letters, start, length, entries[number, 0])
        place = value & mask
        while slots[place]:
            place = (place + uint64(1)) & mask
        slots[place] = (value >> uint64(32) << uint64(32)) | uint64(number + 1)


@kernel
def _space(data: Any, at: Any) -> Any:
    """Measure the white space at a position in bytes: 0 for none, −1 if the block ends within it."""
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
    """Continue scanning a block from `done`; False if the table must grow before the next word."""
    slots, entries, letters = table.slots, table.entries, table.letters
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
        while at < len(data):
            letter = data[at]
            if letter <= 32 or 0xC2 <= letter <= 0xE3:
                length = _space(data, at)
                if length > 0 or (length < 0 and not last):
                    break
            at += 1
        if not last and (at == len(data) or length < 0):
            at = start
            break
        size_of_word = at - start
        key = _key(data, start, size_of_word)
        value = _hash(data, start, size_of_word, key)
        tag, place = value >> uint64(32), value & mask
        number = int64(-1)
        while slots[place]:
            if slots[place] >> uint64(32) == tag:
                candidate = int64(slots[place] & uint64(0xFFFFFFFF)) - 1
                same = entries[candidate, 0] == key and int64(entries[candidate, 2]) == size_of_word
                if same and (
                    size_of_word <= 8 or _same(data, start, letters, int64(entries[candidate, 1]), size_of_word)
                ):
                    number = candidate
                    break
            place = (place + uint64(1)) & mask
        if number < 0:
            if 2 * (size + 1) > len(slots) or used + size_of_word > len(letters):
                at, whole = start, False
                break
            number = size
            slots[place] = (tag << uint64(32)) | uint64(number + 1)
            entries[number, 0], entries[number, 1], entries[number, 2] = key, used, size_of_word
            for i in range(size_of_word):
                letters[used + i] = data[start + i]
            used += size_of_word
            size += 1
        entries[number, 3] += uint64(1)
        numbers[found] = int32(number)
        found += 1
    done[0], done[1], done[2] = at, found, sentences
    table.sizes[0], table.sizes[1] = size, used
    return whole


@kernel
def renumber(numbers: Any, lengths: Any, new_number: Any, kept: Any, kept_lengths: Any) -> Any:
    """Renumber words, drop those whose new number is −1, and count the words kept.

    Args:
        numbers, lengths: of sentences.
        new_number: int32 [words].
        kept, kept_lengths: overwritten with the new numbers and lengths of sentences.
    """
    at, written = 0, 0
    for sentence in range(len(lengths)):
        before = written
        for _ in range(lengths[sentence]):
            number = new_number[numbers[at]]
            kept[written] = number
            written += 1 if number >= 0 else 0
            at += 1
        kept_lengths[sentence] = written - before
    return written

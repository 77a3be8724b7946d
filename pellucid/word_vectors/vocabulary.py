"""Words and the rows they stand for, in a few plain arrays: a million of them open in no time, also from a disk.

    letters   uint8, the words in UTF-8, one after another, a line feed between two
    ends      int64 [vocab_size], where each word ends in `letters`; the next one begins a byte later
    hashes    uint64 [vocab_size], FNV-1a of each word, ascending
    rows      int32 [vocab_size], the word that each hash belongs to

A word is found by bisecting `hashes` and comparing the bytes. Any string that has a UTF-8 form can be a word: since
`ends` tells the words apart, they may hold spaces and line feeds, or nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy
from numpy.typing import NDArray

from pellucid.errors import UserError

__all__ = ["Vocabulary", "pack_words"]

_BLOCK = 1 << 16  # words made into strings at a time
_SEPARATOR = b"\n"


class Vocabulary(Sequence[str]):
    """The words of a model in the order of their rows, each once; made by `Vocabulary.of` from strings.

    The constructor takes the arrays above and believes them; without `hashes` and `rows` it makes these two.
    """

    def __init__(
        self,
        letters: NDArray[numpy.uint8],
        ends: NDArray[numpy.int64],
        hashes: NDArray[numpy.uint64] | None = None,
        rows: NDArray[numpy.int32] | None = None,
    ) -> None:
        if hashes is None or rows is None:
            from pellucid.word_vectors.word_hashes import hash_words

            unsorted = numpy.empty(len(ends), numpy.uint64)
            hash_words(_read_only(letters), _read_only(ends), unsorted)
            rows = numpy.argsort(unsorted, kind="stable").astype(numpy.int32)
            hashes = unsorted[rows]
        self.letters = letters
        self.ends = ends
        self.hashes = hashes
        self.rows = rows

    @classmethod
    def of(cls, words: Iterable[str]) -> Vocabulary:
        """Make a vocabulary of different strings.

        Raises:
            UserError: if one stands there twice, is no string, or holds a lone surrogate (half a character).
        """
        vocabulary = cls(*pack_words(words))
        duplicates = vocabulary.duplicates()
        if duplicates:
            row, first = min(duplicates.items())
            raise UserError(
                f"the word {vocabulary[row]!r} stands twice: in rows {first} and {row}",
                hint="Give each word one vector; leave the second one out, or take their mean.",
            )
        return vocabulary

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        """Return the word of row `index`, or a list of words for a slice."""
        if isinstance(index, slice):
            return [self[row] for row in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(f"row {index} of {len(self)}")
        return self._bytes(index).decode("utf-8")

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _BLOCK):
            ends = self.ends[first : first + _BLOCK]
            start = int(self.ends[first - 1]) + 1 if first else 0
            block = self.letters[start : int(ends[-1])]
            # Places of characters instead of bytes: a byte 10xxxxxx goes on with a character that began before it.
            pluralize = numpy.concatenate([[0], numpy.cumsum((block & 0xC0) != 0x80)])
            text, reached = block.tobytes().decode("utf-8"), 0
            for end in pluralize[ends - start].tolist():
                yield text[reached:end]
                reached = end + 1

    def __contains__(self, word: object) -> bool:
        return self.find(word) is not None

    def __repr__(self) -> str:
        return f"<vocabulary of {len(self):,} words>"

    def find(self, word: object) -> int | None:
        """Return the row of `word`, None if there is no such word."""
        if not isinstance(word, str):
            return None
        try:
            sought = word.encode("utf-8")
        except UnicodeEncodeError:  # a lone surrogate is in no word
            return None
        value = numpy.uint64(_hash(sought))
        place = int(numpy.searchsorted(self.hashes, value))
        while place < len(self.hashes) and self.hashes[place] == value:
            row = int(self.rows[place])
            if self._bytes(row) == sought:
                return row
            place += 1
        return None

    def duplicates(self) -> dict[int, int]:
        """Return each row whose word stood in an earlier row, with the first of these; a whole vocabulary has none."""
        equal = numpy.flatnonzero(self.hashes[1:] == self.hashes[:-1])
        found: dict[int, int] = {}
        first_of: dict[bytes, int] = {}
        for place in equal.tolist():  # equal hashes lie side by side, rows ascending
            for row in (int(self.rows[place]), int(self.rows[place + 1])):
                first = first_of.setdefault(self._bytes(row), row)
                if first != row:
                    found[row] = first
        return found

    def _bytes(self, row: int) -> bytes:
        start = int(self.ends[row - 1]) + 1 if row else 0
        return self.letters[start : int(self.ends[row])].tobytes()


def pack_words(words: Iterable[str]) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]:
    """Return `letters` and `ends` of words that need not be different.

    Raises:
        UserError: if one is no string, or holds a lone surrogate.
    """
    encoded = [_utf8(word, row) for row, word in enumerate(words)]
    letters = numpy.frombuffer(_SEPARATOR.join(encoded), numpy.uint8)
    lengths = numpy.fromiter(map(len, encoded), numpy.int64, len(encoded))
    return letters, numpy.cumsum(lengths + 1) - 1


def _utf8(word: Any, row: int) -> bytes:
    if not isinstance(word, str):
        raise UserError(f"expected words that are strings, got {word!r} in row {row}", hint="Write it as str(…).")
    try:
        return word.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UserError(
            f"the word {word!r} in row {row} holds a lone surrogate: half a character, which no file can hold",
            hint="Read its text again as UTF-8, or leave the word out.",
        ) from error


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view: Numba compiles anew for arrays that can be written to, and both kinds come here."""
    view = array.view()
    view.flags.writeable = False
    return view


def _hash(word: bytes) -> int:
    """Return FNV-1a, 64 bits, as `hash_words` does: a lookup needs no Numba."""
    value = 0xCBF29CE484222325
    for letter in word:
        value = (value ^ letter) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value

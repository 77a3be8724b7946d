"""A vocabulary stored in a few flat arrays, so that a million words open at once, also memory-mapped.

    letters   uint8, the words in UTF-8, one after another, separated by line feeds
    ends      int64 [vocab_size], where each word ends in `letters`; the next one begins a byte later
    hashes    uint64 [vocab_size], FNV-1a of each word, ascending
    rows      int32 [vocab_size], the row of the word that each hash belongs to

Lookup bisects `hashes` and compares the bytes. Any string that can be encoded as UTF-8 can be a word: since `ends`
delimits the words, they may contain spaces and line feeds, or be empty.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self, overload

import numpy
from numpy.typing import NDArray

from pellucid.errors import UserError

__all__ = ["Vocabulary", "pack_words", "read_only"]

_BLOCK = 1 << 16  # words decoded at a time


class Vocabulary(Sequence[str]):
    """The distinct words of a model in row order; built from strings by `Vocabulary.of`.

    The constructor takes the arrays above without checking them, and computes `hashes` and `rows` if they are missing.
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
            hash_words(read_only(letters), read_only(ends), unsorted)
            rows = numpy.argsort(unsorted, kind="stable").astype(numpy.int32)
            hashes = unsorted[rows]
        self.letters = letters
        self.ends = ends
        self.hashes = hashes
        self.rows = rows

    @classmethod
    def of(cls, words: Iterable[str]) -> Self:
        """Build a vocabulary from distinct strings.

        Raises:
            UserError: for a repeated word, a word that is not a string, or a lone surrogate.
        """
        vocabulary = cls(*pack_words(words))
        duplicates = vocabulary.duplicates()
        if duplicates:
            row, first = min(duplicates.items())
            raise UserError(
                f"the word {vocabulary[row]!r} is repeated: rows {first} and {row}",
                where=f"row {row}",
                hint="Keep one vector per word: drop the second one, or average them.",
            )
        return vocabulary

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        """Decode the word in row `index`, or a list of words for a slice."""
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
            # Character offsets from byte offsets: a byte 10xxxxxx continues a character.
            offsets = numpy.concatenate([[0], numpy.cumsum((block & 0xC0) != 0x80)])
            text, reached = block.tobytes().decode("utf-8"), 0
            for end in offsets[ends - start].tolist():
                yield text[reached:end]
                reached = end + 1

    def __contains__(self, word: object) -> bool:
        return self.find(word) is not None

    def __repr__(self) -> str:
        return f"<vocabulary of {len(self):,} words>"

    def find(self, word: object) -> int | None:
        """Find the row of `word`; None if it is not in the vocabulary."""
        if not isinstance(word, str):
            return None
        try:
            sought = word.encode("utf-8")
        except UnicodeEncodeError:  # no word has a lone surrogate
            return None
        value = numpy.uint64(_hash(sought))
        index = int(numpy.searchsorted(self.hashes, value))
        while index < len(self.hashes) and self.hashes[index] == value:
            row = int(self.rows[index])
            if self._bytes(row) == sought:
                return row
            index += 1
        return None

    def duplicates(self) -> dict[int, int]:
        """Map each row that repeats an earlier row's word to the first such row; empty for a valid vocabulary."""
        equal = numpy.flatnonzero(self.hashes[1:] == self.hashes[:-1])  # equal hashes are adjacent, rows ascending
        found: dict[int, int] = {}
        first_of: dict[bytes, int] = {}
        for row in numpy.stack([self.rows[equal], self.rows[equal + 1]], axis=1).ravel().tolist():
            first = first_of.setdefault(self._bytes(row), row)
            if first != row:
                found[row] = first
        return found

    def _bytes(self, row: int) -> bytes:
        start = int(self.ends[row - 1]) + 1 if row else 0
        return self.letters[start : int(self.ends[row])].tobytes()


def pack_words(words: Iterable[Any]) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]:
    """Encode words, which need not be distinct, as `letters` and `ends`.

    Raises:
        UserError: for a word that is not a string, or a lone surrogate.
    """
    encoded: list[bytes] = []
    for row, word in enumerate(words):
        if not isinstance(word, str):
            raise UserError(f"expected words as strings, got {word!r}", where=f"row {row}", hint="Convert it: str(…).")
        try:
            encoded.append(word.encode("utf-8"))
        except UnicodeEncodeError as error:
            raise UserError(
                f"the word {word!r} contains a lone surrogate, which cannot be encoded as UTF-8",
                where=f"row {row}",
                hint="Decode its text as UTF-8, or remove the word.",
            ) from error
    letters = numpy.frombuffer(b"\n".join(encoded), numpy.uint8)
    lengths = numpy.fromiter(map(len, encoded), numpy.int64, len(encoded))
    return letters, numpy.cumsum(lengths + 1) - 1


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """View an array as read-only; Numba compiles separately for writable arrays."""
    view = array.view()
    view.flags.writeable = False
    return view


def _hash(word: bytes) -> int:
    """Compute 64-bit FNV-1a as `hash_words` does; a lookup needs no Numba."""
    value = 0xCBF29CE484222325
    for letter in word:
        value = (value ^ letter) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value

"""Rows of a file on their way into memory: as many as there are, whatever the header has promised."""

from __future__ import annotations

from itertools import pairwise

import numpy
from numpy.typing import NDArray

from pellucid.errors import UserError
from pellucid.word_vectors.files.escapes import unescape
from pellucid.word_vectors.files.problems import LoadReport, ProblemLog
from pellucid.word_vectors.keyed_vectors import KeyedVectors
from pellucid.word_vectors.vocabulary import Vocabulary, pack_words

__all__ = ["RowCollector"]

_GROWTH = 1.3
_MORE = 1 << 22  # numbers; a portion may ask for more room than it then needs


class RowCollector:
    """Takes rows in portions, each a matrix, its words, and where they stood in the file.

    Args:
        d: numbers a row.
        expected: how many rows room is made for at first, with a little more; memory is taken as it is filled.
        unit: what a place is, "line" or "byte".
        escaped: whether words are written with escapes.
    """

    def __init__(self, dim: int, expected: int, problems: ProblemLog, unit: str, escaped: bool) -> None:
        self._oddities = problems
        self._count = 0
        try:
            self._vectors = numpy.empty((expected + _MORE // dim + 1, dim), numpy.float32)
        except (MemoryError, ValueError) as error:
            raise UserError(
                f"not enough memory for {expected:,} rows of {dim:,} numbers",
                where=problems.path,
                hint="Check what the header says; a file as large as that takes a machine with more memory.",
            ) from error
        self._unit = unit
        self._escaped = escaped
        self._letters: list[NDArray[numpy.uint8]] = []
        self._lengths: list[NDArray[numpy.int64]] = []
        self._places: list[NDArray[numpy.int64]] = []

    def __len__(self) -> int:
        return self._count

    def room(self, rows: int) -> NDArray[numpy.float32]:
        """Return an array [rows d] to be filled; it holds until the next call."""
        needed = self._count + rows
        if needed > len(self._vectors):
            # Grows in place where the system can. Arrays that this method has returned are not used any more.
            self._vectors.resize(
                (max(needed, int(len(self._vectors) * _GROWTH)), self._vectors.shape[1]), refcheck=False
            )
        return self._vectors[self._count : needed]

    def keep(
        self,
        letters: NDArray[numpy.uint8],
        ends: NDArray[numpy.int64],
        places: NDArray[numpy.int64],
        stays: NDArray[numpy.bool_] | None = None,
    ) -> None:
        """Keep the first rows of what `room` has returned, one for each word.

        Args:
            letters: the words in bytes, a line feed after each.
            ends: where each word ends in `letters`.
            places: where each row stands in the file.
            stays: which of them are kept; all unless given.
        """
        lengths = numpy.diff(ends, prepend=-1)  # line feeds included
        if stays is not None and not stays.all():
            rows = self._vectors[self._count :]
            rows[: stays.sum()] = rows[: len(stays)][stays]
            letters, lengths, places = letters[numpy.repeat(stays, lengths)], lengths[stays], places[stays]
        if not _is_utf8(letters) or (self._escaped and (letters == ord("\\")).any()):
            raw = _split(letters, lengths)
            words = [self._word(word, place) for word, place in zip(raw, places.tolist(), strict=True)]
            letters, ends = pack_words([*words, ""])  # the empty word behind the last one leaves a line feed there
            lengths = numpy.diff(ends[:-1], prepend=-1)
        self._letters.append(letters.copy())  # `letters` may be the small used part of a large array
        self._lengths.append(lengths)
        self._places.append(places)
        self._count += len(lengths)

    def finish(self, format: str, rows: int) -> KeyedVectors:
        """Return the vectors, the first row of each word kept.

        Args:
            rows: how many rows the file has, whole or not.

        Raises:
            UserError: if there are none.
        """
        if not self._count:
            raise UserError(
                f"{self._oddities.path} has no row that could be read",
                where=[f"{found.where}: {found.message}" for found in self._oddities.found()] or self._oddities.path,
                hint="Is it a file of word vectors, whole? Say what it is with `format`.",
            )
        vectors = self._vectors
        self._vectors = numpy.empty((0, vectors.shape[1]), numpy.float32)
        vectors.resize((self._count, vectors.shape[1]), refcheck=False)
        letters, lengths = numpy.concatenate(self._letters), numpy.concatenate(self._lengths)
        vocabulary = _vocabulary(letters, lengths)
        duplicates = vocabulary.duplicates()
        if duplicates:
            places = numpy.concatenate(self._places)
            for row, first in sorted(duplicates.items()):
                self._oddities.add(
                    "duplicate-word",
                    f"the word {vocabulary[row]!r} stands twice, first in {self._unit} {places[first]:,}; "
                    "the first row is kept",
                    self._place(int(places[row])),
                    plural=f"{{}} rows repeat a word, as {vocabulary[row]!r}; the first row of each word is kept",
                )
            kept = numpy.ones(self._count, numpy.bool_)
            kept[list(duplicates)] = False
            vectors, letters = vectors[kept], letters[numpy.repeat(kept, lengths)]
            vocabulary = _vocabulary(letters, lengths[kept])
        return KeyedVectors(
            vocabulary, vectors, report=LoadReport(self._oddities.path, format, rows, self._oddities.found())
        )

    def _word(self, raw: bytes, place: int) -> str:
        """Return a word as text, its escapes read; what is wrong with it is noted."""
        try:
            word = raw.decode("utf-8")
        except UnicodeDecodeError:
            word = raw.decode("utf-8", errors="backslashreplace")
            self._oddities.add(
                "encoding",
                f"the word {word!r} is not UTF-8; its bad bytes are written as \\x..",
                self._place(place),
                plural=f"{{}} words are not UTF-8, as {word!r}; their bad bytes are written as \\x..",
            )
            return word
        if not self._escaped:
            return word
        try:
            return unescape(word)
        except ValueError as error:
            self._oddities.add(
                "escape",
                f"the word {word!r} is not escaped: {error}; it is kept as it is",
                self._place(place),
                plural=f"{{}} words are not escaped, as {word!r}; they are kept as they are",
            )
            return word

    def _place(self, place: int) -> int | str:
        return place if self._unit == "line" else f"{self._unit} {place:,}"


def _vocabulary(letters: NDArray[numpy.uint8], lengths: NDArray[numpy.int64]) -> Vocabulary:
    return Vocabulary(letters[:-1], numpy.cumsum(lengths) - 1)


def _split(letters: NDArray[numpy.uint8], lengths: NDArray[numpy.int64]) -> list[bytes]:
    data, starts = letters.tobytes(), [0, *numpy.cumsum(lengths).tolist()]
    return [data[start : end - 1] for start, end in pairwise(starts)]


def _is_utf8(letters: NDArray[numpy.uint8]) -> bool:
    """Tell whether all words are UTF-8; the line feeds between them let no two words make a character together."""
    try:
        letters.tobytes().decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True

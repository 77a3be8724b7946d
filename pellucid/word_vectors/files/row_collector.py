"""Buffer for rows read from a file: grows with the rows, whatever the header promises."""

from itertools import pairwise
from typing import Literal

import numpy
from numpy.typing import NDArray

from pellucid.errors import UserError
from pellucid.word_vectors.files.escapes import unescape
from pellucid.word_vectors.files.problems import LoadReport, ProblemLog
from pellucid.word_vectors.keyed_vectors import KeyedVectors
from pellucid.word_vectors.vocabulary import Vocabulary, pack_words

__all__ = ["RowCollector"]

_GROWTH = 1.3
_MORE = 1 << 22  # numbers; a batch may request more space than it uses


class RowCollector:
    """Collects rows in batches, each a matrix, its words, and their positions in the file.

    Args:
        dim: numbers per row.
        expected: number of rows to allocate at first.
        unit: the unit of positions.
        escaped: whether words are escaped.
    """

    def __init__(
        self, dim: int, expected: int, problems: ProblemLog, unit: Literal["line", "byte"], escaped: bool
    ) -> None:
        self.problems = problems
        self._count = 0
        try:
            self._vectors = numpy.empty((expected + _MORE // dim + 1, dim), numpy.float32)
        except (MemoryError, ValueError) as error:
            raise UserError(
                f"not enough memory for {expected:,} rows of {dim:,} numbers",
                where=problems.path,
                hint="Check the header; a file of this size needs a machine with more memory.",
            ) from error
        self._unit = unit
        self._escaped = escaped
        self._letters: list[NDArray[numpy.uint8]] = []
        self._lengths: list[NDArray[numpy.int64]] = []
        self._positions: list[NDArray[numpy.int64]] = []

    def room(self, rows: int) -> NDArray[numpy.float32]:
        """Allocate an array [rows d] to fill; it is valid until the next call."""
        needed = self._count + rows
        if needed > len(self._vectors):
            # Grows in place where possible. Arrays returned earlier are no longer in use.
            self._vectors.resize(
                (max(needed, int(len(self._vectors) * _GROWTH)), self._vectors.shape[1]), refcheck=False
            )
        return self._vectors[self._count : needed]

    def keep(
        self,
        letters: NDArray[numpy.uint8],
        ends: NDArray[numpy.int64],
        positions: NDArray[numpy.int64],
        stays: NDArray[numpy.bool_],
    ) -> None:
        """Keep the first rows of the array from `room`, one per word.

        Args:
            letters: the words in bytes, a line feed after each.
            ends: where each word ends in `letters`.
            positions: where each row is in the file.
            stays: bool [words], which of them to keep.
        """
        lengths = numpy.diff(ends, prepend=-1)  # line feeds included
        if not stays.all():
            rows = self._vectors[self._count :]
            rows[: stays.sum()] = rows[: len(stays)][stays]
            letters, lengths, positions = letters[numpy.repeat(stays, lengths)], lengths[stays], positions[stays]
        if not _is_utf8(letters) or (self._escaped and (letters == ord("\\")).any()):
            data, starts = letters.tobytes(), [0, *numpy.cumsum(lengths).tolist()]
            raw = (data[start : end - 1] for start, end in pairwise(starts))
            words = [self._word(word, position) for word, position in zip(raw, positions.tolist(), strict=True)]
            letters, ends = pack_words([*words, ""])  # the empty word at the end leaves a line feed after the last one
            lengths = numpy.diff(ends[:-1], prepend=-1)
        self._letters.append(letters.copy())  # `letters` may be the small used part of a large array
        self._lengths.append(lengths)
        self._positions.append(positions)
        self._count += len(lengths)

    def finish(self, format: str, rows: int) -> KeyedVectors:
        """Build the vectors, keeping the first row of each word.

        Args:
            rows: number of rows in the file, including incomplete ones.

        Raises:
            UserError: if there are none.
        """
        if not self._count:
            raise UserError(
                f"{self.problems.path} has no valid row",
                where=[f"{found.where}: {found.message}" for found in self.problems.found()] or self.problems.path,
                hint="Check that it is a complete file of word vectors, or set `format`.",
            )
        vectors = self._vectors
        self._vectors = numpy.empty((0, vectors.shape[1]), numpy.float32)
        vectors.resize((self._count, vectors.shape[1]), refcheck=False)
        letters, lengths = numpy.concatenate(self._letters), numpy.concatenate(self._lengths)
        vocabulary = _vocabulary(letters, lengths)
        duplicates = vocabulary.duplicates()
        if duplicates:
            positions = numpy.concatenate(self._positions)
            for row, first in sorted(duplicates.items()):
                self.problems.add(
                    "duplicate-word",
                    f"the word {vocabulary[row]!r} is repeated, first in {self._unit} {positions[first]:,}; "
                    "the first row is kept",
                    self._position(int(positions[row])),
                    plural=f"{{}} rows repeat a word, such as {vocabulary[row]!r}; the first row of each word is kept",
                )
            kept = numpy.ones(self._count, numpy.bool_)
            kept[list(duplicates)] = False
            vectors, letters = vectors[kept], letters[numpy.repeat(kept, lengths)]
            vocabulary = _vocabulary(letters, lengths[kept])
        return KeyedVectors(
            vocabulary, vectors, report=LoadReport(self.problems.path, format, rows, self.problems.found())
        )

    def _word(self, raw: bytes, position: int) -> str:
        """Decode a word and its escapes; problems are reported."""
        try:
            word = raw.decode("utf-8")
        except UnicodeDecodeError:
            word = raw.decode("utf-8", errors="backslashreplace")
            self.problems.add(
                "encoding",
                f"the word {word!r} is not valid UTF-8; its invalid bytes are written as \\x..",
                self._position(position),
                plural=f"{{}} words are not valid UTF-8, such as {word!r}; their invalid bytes are written as \\x..",
            )
            return word
        if not self._escaped:
            return word
        try:
            return unescape(word)
        except ValueError as error:
            self.problems.add(
                "escape",
                f"the word {word!r} has an invalid escape: {error}; it is kept unchanged",
                self._position(position),
                plural=f"{{}} words have invalid escapes, such as {word!r}; they are kept unchanged",
            )
            return word

    def _position(self, position: int) -> int | str:
        return position if self._unit == "line" else f"{self._unit} {position:,}"


def _vocabulary(letters: NDArray[numpy.uint8], lengths: NDArray[numpy.int64]) -> Vocabulary:
    return Vocabulary(letters[:-1], numpy.cumsum(lengths) - 1)


def _is_utf8(letters: NDArray[numpy.uint8]) -> bool:
    """Whether all words are valid UTF-8; the line feeds between them keep words from combining to a character."""
    try:
        letters.tobytes().decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True

"""Word vectors in word2vec's binary format, float32 or float16."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy
from numpy.typing import NDArray

from pellucid.corpus.text_files import read_blocks
from pellucid.errors import UserError
from pellucid.word_vectors.files.binary_rows import split_rows
from pellucid.word_vectors.files.format_detection import FileFormat
from pellucid.word_vectors.files.problems import ProblemLog
from pellucid.word_vectors.files.row_collector import RowCollector
from pellucid.word_vectors.keyed_vectors import KeyedVectors
from pellucid.word_vectors.vocabulary import Vocabulary

__all__ = ["format_binary", "read_binary"]

_CHUNK = 1 << 22  # bytes split at a time, unless a row is longer
_LONGEST_WORD = 1 << 20  # bytes
_ROWS = 4096  # rows written at a time


def read_binary(
    path: str | Path,
    form: FileFormat,
    expected: int,
    problems: ProblemLog,
    escaped: bool,
    on_progress: Callable[[int], object],
) -> KeyedVectors:
    """Read words and the bytes of their numbers.

    Args:
        form: the format found by `detect_format`.
        expected: approximate number of rows.
        on_progress: called with the number of bytes read since the last call.
    """
    size = form.dim * form.itemsize
    rows = RowCollector(form.dim, expected, problems, "byte", escaped)
    at, skip, found, rest = form.start, form.start, 0, b""
    for block in _large_blocks(path, max(_CHUNK, 2 * size)):
        data = rest + block[skip:]
        skip = max(skip - len(block), 0)
        read, used = _read_chunk(data, at, form, rows, problems)
        found, at, rest = found + read, at + used, data[used:]
        on_progress(used)
        if len(rest) > size + _LONGEST_WORD:
            raise UserError(
                f"no word ends within {_LONGEST_WORD >> 20} MiB: these are not vectors of dimension {form.dim:,}",
                where=f"{path}, byte {at:,}",
                hint="Set `format`: detection may have been wrong.",
            )
    rest = rest.lstrip(b"\n")
    if rest:
        problems.add(
            "cut-off",
            f"the file ends within a row, {len(rest):,} bytes after its start; the {found:,} rows before it are read",
            f"byte {at:,}",
        )
    if form.rows != found:
        problems.add("row-count", f"the header says {form.rows:,} rows, the file has {found:,}", f"byte {at:,}")
    return rows.finish(form.format, found + bool(rest))


def format_binary(
    vocabulary: Vocabulary, vectors: NDArray[numpy.float32], float16: bool
) -> Iterator[NDArray[numpy.uint8] | bytes]:
    """Yield the bytes of a binary file as gensim writes it, without line feeds after rows."""
    yield b"%d %d\n" % vectors.shape
    start = 0
    for first in range(0, len(vectors), _ROWS):
        block = numpy.ascontiguousarray(vectors[first : first + _ROWS], "<f2" if float16 else "<f4")
        ends = vocabulary.ends[first : first + _ROWS].tolist()
        words, shift = vocabulary.letters[start : ends[-1]].tobytes(), start
        pieces: list[bytes] = []
        for row, end in enumerate(ends):
            pieces += (words[start - shift : end - shift], b" ", block[row].tobytes())
            start = end + 1
        yield b"".join(pieces)


def _large_blocks(path: str | Path, size: int) -> Iterator[bytes]:
    parts: list[bytes] = []
    length = 0
    for block in read_blocks(path):
        parts.append(block)
        length += len(block)
        if length >= size:
            yield b"".join(parts)
            parts, length = [], 0
    yield b"".join(parts)


def _read_chunk(data: bytes, at: int, form: FileFormat, rows: RowCollector, problems: ProblemLog) -> tuple[int, int]:
    """Read the whole rows of `data`, which begins at byte `at`; count the rows and their bytes."""
    size = form.dim * form.itemsize
    most = len(data) // (size + 1)
    vectors = rows.room(most)
    raw = vectors.view(numpy.uint8) if form.itemsize == 4 else numpy.empty((most, size), numpy.uint8)
    letters = numpy.empty(len(data) + most, numpy.uint8)
    ends, starts = numpy.empty(most, numpy.int64), numpy.empty(most + 1, numpy.int64)
    found, used, reached = split_rows(numpy.frombuffer(data, numpy.uint8), raw, letters, ends, starts)
    vectors = vectors[:found]
    if form.itemsize == 2:
        vectors[:] = raw[:found].view("<f2")
    letters, ends, starts = letters[:used], ends[:found], starts[:found]
    # A row's sum is finite if its numbers are, unless the sum overflows.
    with numpy.errstate(over="ignore", invalid="ignore"):
        suspicious = numpy.flatnonzero(~numpy.isfinite(vectors @ numpy.ones(form.dim, numpy.float32)))
    infinite = suspicious[~numpy.isfinite(vectors[suspicious]).all(axis=1)]
    for row in infinite.tolist():
        problems.add(
            "not-finite",
            "a row contains NaN or infinity; it is skipped",
            f"byte {at + int(starts[row]):,}",
            plural="{} rows contain NaN or infinity; they are skipped",
        )
    stays = numpy.ones(found, numpy.bool_)
    stays[infinite] = False
    rows.keep(letters, ends, at + starts, stays)
    return found, reached

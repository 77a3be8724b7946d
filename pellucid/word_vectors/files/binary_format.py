"""Word vectors in word2vec's binary format, float32 or float16."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from pellucid.corpus.text_files import read_blocks
from pellucid.errors import UserError
from pellucid.kernels.compilation import kernel
from pellucid.word_vectors.files.format_detection import FileFormat
from pellucid.word_vectors.files.row_collector import RowCollector
from pellucid.word_vectors.keyed_vectors import KeyedVectors
from pellucid.word_vectors.vocabulary import Vocabulary

__all__ = ["format_binary", "read_binary"]

_CHUNK = 1 << 22  # bytes split at a time, unless a row is longer
_LONGEST_WORD = 1 << 20  # bytes
_ROWS = 4096  # rows written at a time
_SPACE, _LF = 32, 10

Array = NDArray[Any]


def read_binary(
    path: str | Path, form: FileFormat, rows: RowCollector, on_progress: Callable[[int], object]
) -> KeyedVectors:
    """Read words and the bytes of their numbers; `form` is what `detect_format` found."""
    size = form.dim * form.itemsize
    at, skip, found, rest = form.start, form.start, 0, b""
    for block in _large_blocks(path, max(_CHUNK, 2 * size)):
        data = rest + block[skip:]
        skip = max(skip - len(block), 0)
        read, used = _read_chunk(data, at, form, rows)
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
        rows.problems.add(
            "cut-off",
            f"the file ends within a row, {len(rest):,} bytes after its start; the {found:,} rows before it are read",
            f"byte {at:,}",
        )
    if form.rows != found:
        message = f"the header says {form.rows:,} rows, the file has {found:,}"
        rows.problems.add("row-count", message, f"byte {at:,}")
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


def _read_chunk(data: bytes, at: int, form: FileFormat, rows: RowCollector) -> tuple[int, int]:
    """Read the whole rows of `data`, which begins at byte `at`; count the rows and their bytes."""
    size = form.dim * form.itemsize
    most = len(data) // (size + 1)
    vectors = rows.room(most)
    raw = vectors.view(numpy.uint8) if form.itemsize == 4 else numpy.empty((most, size), numpy.uint8)
    letters = numpy.empty(len(data) + most, numpy.uint8)
    ends, starts = numpy.empty(most, numpy.int64), numpy.empty(most + 1, numpy.int64)
    found, used, reached = _split_rows(numpy.frombuffer(data, numpy.uint8), raw, letters, ends, starts)
    vectors = vectors[:found]
    if form.itemsize == 2:
        vectors[:] = raw[:found].view("<f2")
    letters, ends, starts = letters[:used], ends[:found], starts[:found]
    # A row's sum is finite if its numbers are, unless the sum overflows.
    with numpy.errstate(over="ignore", invalid="ignore"):
        suspicious = numpy.flatnonzero(~numpy.isfinite(vectors @ numpy.ones(form.dim, numpy.float32)))
    infinite = suspicious[~numpy.isfinite(vectors[suspicious]).all(axis=1)]
    for row in infinite.tolist():
        rows.problems.add(
            "not-finite",
            "a row contains NaN or infinity; it is skipped",
            f"byte {at + int(starts[row]):,}",
            plural="{} rows contain NaN or infinity; they are skipped",
        )
    stays = numpy.ones(found, numpy.bool_)
    stays[infinite] = False
    rows.keep(letters, ends, at + starts, stays)
    return found, reached


@kernel
def _split_rows(data: Array, room: Array, letters: Array, ends: Array, starts: Array) -> tuple[int, int, int]:
    """Split bytes into words and the bytes of their numbers, up to the last whole row.

    Line feeds before a word belong to the previous row: some programs end rows with one.

    Args:
        data: uint8 [bytes].
        room: uint8 [rows, bytes a row], filled with the numbers.
        letters: uint8 [bytes], filled with the words, a line feed after each.
        ends: int64 [rows], where each word ends in `letters`.
        starts: int64 [rows], where each word begins in `data`.

    Returns:
        The number of rows, the number of letters, and where the next row begins.
    """
    at = rows = used = next_row = 0
    size = room.shape[1]
    while rows < len(room):
        while at < len(data) and data[at] == _LF:
            at += 1
        starts[rows] = next_row = at
        while at < len(data) and data[at] != _SPACE:
            at += 1
        if at + 1 + size > len(data):
            break
        for i in range(next_row, at):
            letters[used] = data[i]
            used += 1
        ends[rows] = used
        letters[used] = _LF
        used += 1
        at += 1
        row, numbers = room[rows], data[at : at + size]
        for i in range(size):
            row[i] = numbers[i]
        at += size
        rows += 1
        next_row = at
    return rows, used, next_row

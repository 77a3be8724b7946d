"""Word vectors in text formats: word2vec's, fastText's and GloVe's."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy
from numpy.typing import NDArray

from pellucid.corpus.text_files import read_blocks
from pellucid.errors import UserError
from pellucid.word_vectors.files import text_rows
from pellucid.word_vectors.files.format_detection import FileFormat
from pellucid.word_vectors.files.problems import ProblemLog
from pellucid.word_vectors.files.row_collector import RowCollector
from pellucid.word_vectors.files.text_rows import format_rows, parse_rows
from pellucid.word_vectors.keyed_vectors import KeyedVectors
from pellucid.word_vectors.vocabulary import Vocabulary

__all__ = ["format_text", "read_text"]

_CHUNK = 1 << 22  # bytes parsed at a time
_LONGEST_LINE = 1 << 28  # bytes; ten million numbers
_ROWS = 4096  # rows written at a time
_POINTED_NUMBER = re.compile(rb"(?:^|.*[ \t])[+-]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?", re.DOTALL)


def read_text(
    path: str | Path, form: FileFormat, rows: RowCollector, on_progress: Callable[[int], object]
) -> KeyedVectors:
    """Read lines of words and numbers; `form` is what `detect_format` found."""
    line = first = 1 if form.rows is None else 2
    blank = 0
    for chunk in _whole_lines(path, form.start):
        kinds = _read_chunk(chunk, line, form.dim, rows)
        line += len(kinds)
        blank += int((kinds == text_rows.BLANK).sum())
        on_progress(len(chunk))
    found = line - first - blank
    if form.rows is not None and form.rows != found:
        message = f"the header says {form.rows:,} rows, the file has {found:,}"
        rows.problems.add("row-count", message, max(line - 1, 1))
    return rows.finish(form.format, found)


def format_text(
    vocabulary: Vocabulary, vectors: NDArray[numpy.float32], header: bool, last_space: bool
) -> Iterator[NDArray[numpy.uint8] | bytes]:
    """Yield the bytes of a text file; its words must not contain delimiters.

    Args:
        header: whether the first line has the numbers of rows and columns.
        last_space: whether each line ends with a space, as fastText writes it.
    """
    if header:
        yield b"%d %d\n" % vectors.shape
    start = 0
    for first in range(0, len(vectors), _ROWS):
        # Copies, because Numba would compile separately for read-only (memory-mapped) arrays.
        block, ends = vectors[first : first + _ROWS].copy(), vocabulary.ends[first : first + _ROWS] - start
        letters = vocabulary.letters[start : start + int(ends[-1])].copy()
        out = numpy.empty(block.size * text_rows.LONGEST + len(letters) + 3 * len(block), numpy.uint8)
        used = format_rows(block, numpy.signbit(block), letters, ends, last_space, out)
        yield out[:used]
        start += int(ends[-1]) + 1


def _whole_lines(path: str | Path, start: int) -> Iterator[bytes]:
    """Yield a file from byte `start` in chunks of whole lines; the last one ends with a line feed, too."""
    parts: list[bytes] = []
    size, skip = 0, start
    for block in read_blocks(path):
        part, skip = block[skip:], max(skip - len(block), 0)
        parts.append(part)
        size += len(part)
        if size >= _CHUNK and b"\n" in part:
            whole, _, rest = b"".join(parts).rpartition(b"\n")
            yield whole + b"\n"
            parts, size = [rest], len(rest)
        elif size > _LONGEST_LINE:
            raise UserError(
                f"a line is longer than {_LONGEST_LINE >> 20} MiB: this is not a text file of vectors",
                where=str(path),
                hint="Set `format`: detection may have been wrong.",
            )
    last = b"".join(parts)
    if last:
        yield last if last.endswith(b"\n") else last + b"\n"


def _read_chunk(chunk: bytes, line: int, dim: int, rows: RowCollector) -> NDArray[numpy.uint8]:
    """Parse lines, the first of which is line number `line`, and classify each."""
    count = chunk.count(b"\n")
    # No row is shorter than its numbers and their separators: blank lines take no space.
    vectors = rows.room(min(count, len(chunk) // (2 * dim) + 1))
    letters = numpy.empty(len(chunk) + count, numpy.uint8)
    ends, starts = numpy.empty(count, numpy.int64), numpy.empty(count + 1, numpy.int64)
    kinds = numpy.empty(count, numpy.uint8)
    found, used = parse_rows(numpy.frombuffer(chunk, numpy.uint8), dim, vectors, letters, ends, kinds, starts)
    letters, ends = letters[:used], ends[:found]
    parsed = kinds < text_rows.NOT_FINITE
    row_of = numpy.cumsum(parsed) - 1
    for place in numpy.flatnonzero((kinds != text_rows.PLAIN) & (kinds != text_rows.BLANK)).tolist():
        text = chunk[starts[place] : starts[place + 1] - 1]
        if kinds[place] == text_rows.DOUBTFUL:
            row = vectors[row_of[place]]
            with numpy.errstate(over="ignore"):
                row[:] = [float(number) for number in re.split(rb"[ \t]+", text.rstrip(b" \t\r"))[-dim:]]
            if not numpy.isfinite(row).all():
                kinds[place] = text_rows.NOT_FINITE
        _report(int(kinds[place]), text, line + place, dim, rows.problems)
    stays = (kinds < text_rows.NOT_FINITE)[parsed]  # all except those whose numbers are too large for float32
    rows.keep(letters, ends, line + numpy.flatnonzero(parsed), stays)
    return kinds


def _report(kind: int, text: bytes, line: int, dim: int, problems: ProblemLog) -> None:
    """Report the problem of a line."""
    shown = repr(text[:40].decode("utf-8", errors="backslashreplace")) + (" …" if len(text) > 40 else "")
    if kind == text_rows.NO_WORD:
        problems.add(
            "no-word",
            "a row has no word before its numbers; its word is the empty string",
            line,
            plural="{} rows have no word before their numbers; their word is the empty string",
        )
    elif kind == text_rows.NOT_FINITE:
        problems.add(
            "not-finite",
            f"the row {shown} contains NaN or infinity; it is skipped",
            line,
            plural="{} rows contain NaN or infinity; they are skipped",
        )
    elif kind == text_rows.RAGGED:
        problems.add(
            "ragged-row",
            f"the row {shown} does not end in {dim:,} numbers; it is skipped",
            line,
            plural=f"{{}} rows do not end in {dim:,} numbers; they are skipped",
        )
    elif _POINTED_NUMBER.fullmatch(b" ".join(text.split()[:-dim])):
        problems.add(
            "number-in-word",
            f"the row {shown} has more than {dim:,} numbers; the extra ones are taken as part of its word",
            line,
            plural=f"{{}} rows have more than {dim:,} numbers; the extra ones are taken as part of their words",
        )

"""Detection of the format of a file of word vectors from its content.

    native            a Pellucid folder: config.json and model.safetensors
    word2vec-text     "rows d", then one word and d numbers per line
    word2vec-binary   "rows d", then a word, a space and d little-endian float32 or float16, optionally a line feed
    glove             one word and d numbers per line, no header
    fasttext          fastText's .vec: word2vec-text with a space at the end of each line

In text formats the last d fields of a line are its numbers and the rest is its word, so words may contain spaces.
Ambiguous files are rejected with a hint on how to specify the format: nothing is guessed silently.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from pellucid.corpus.text_files import format_suffix, read_blocks
from pellucid.errors import UserError
from pellucid.word_vectors.files.formats import Format

__all__ = ["FileFormat", "detect_format"]

BOM = b"\xef\xbb\xbf"
_SAMPLE = 1 << 20  # bytes read at first, and more until
_LINES = 200  # this many lines are complete, or
_MAX_SAMPLE = 1 << 26  # this many bytes are read
_MAX_ROWS = 2000  # rows of a binary file to check

_HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]*\r?")
_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|nan|inf(?:inity)?)", re.IGNORECASE)
_SPACE = re.compile(rb"[ \t]+")
_NOT_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x7f]")

_ARCHIVE = "Extract it and name the file in it; .gz, .xz and .zst are read directly."
_EXPORT = "Export it as word2vec text or binary with the program that wrote it."
_PICKLE = (
    "Pellucid does not read pickles, which can execute code. In gensim, save with "
    "`model.wv.save_word2vec_format('vectors.bin', binary=True)` (`KeyedVectors` have this method, too) and load that."
)
_OTHERS = (
    (rb"\x93NUMPY", "a NumPy array", "It has no words; combine both: `WordVectors(words, numpy.load(file))`."),
    (rb"\x80[\x02-\x05]", "a Python pickle", _PICKLE),
    (rb"PK\x03\x04", "a ZIP archive", _ARCHIVE),
    (rb"BZh[1-9]1AY&SY", "compressed with bzip2", _ARCHIVE),
    (rb"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", _ARCHIVE),
    (rb".{257}ustar", "a tar archive", _ARCHIVE),
    (rb"\xba\x16\x4f\x2f", "a fastText model", "Name its .vec file; `fasttext print-word-vectors` writes one."),
    (rb"\x89HDF\r\n", "an HDF5 file", _EXPORT),
    (rb"SQLite format 3\x00", "an SQLite database", _EXPORT),
    (rb"PAR1[\x00-\x1f]", "a Parquet file", _EXPORT),
    (rb"GGUF[\x01-\x09]\x00", "a language model in GGUF", "Name a file of word vectors."),
    (rb"%PDF-", "a PDF", "Name a file of word vectors."),
    (rb"\xff\xfe|\xfe\xff", "UTF-16", "Convert it: `iconv -f UTF-16 -t UTF-8 FILE > NEW`."),
    (rb"(?i:\s*<(?:!doctype html|html))", "a web page", "The download may have failed: try again."),
)
_SPECIFY = "Set `format`: word2vec-text, word2vec-binary, glove or fasttext."


class FileFormat(NamedTuple):
    """The format of a file, detected from its beginning.

    Attributes:
        format: one of FORMATS, never native.
        dim: numbers per row.
        rows: according to the header; None without a header.
        start: bytes before the first row: byte order mark and header.
        itemsize: bytes per number in a binary file; 4 in text.
    """

    format: Format
    dim: int
    rows: int | None
    start: int
    itemsize: int = 4


def detect_format(path: str | Path, format: Format | None = None, float16: bool | None = None) -> FileFormat:
    """Detect the format of a file.

    Args:
        format: the format, if known; then only the header and the dimension are read.
        float16: whether the numbers of a binary file are float16, if known.

    Raises:
        UserError: if the file is missing, empty, not a file of word vectors, or ambiguous.
    """
    head, whole = _read_sample(path)
    if not head:
        raise UserError(f"{path} is empty", where=str(path), hint="Name a file of word vectors.")
    _reject_other_files(path, head)
    body = head.removeprefix(BOM)
    shift = len(head) - len(body)
    first, _, rest = body.partition(b"\n")
    header = _HEADER.fullmatch(first)
    if header is None or format == "glove":
        if format not in (None, "glove"):
            raise UserError(
                f"expected a header in line 1 (numbers of rows and columns), got {_quoted(first)}",
                where=f"{path}:1",
                hint="If the file has no header, set `format` to glove.",
            )
        return FileFormat("glove", _width(path, body, whole, None), None, shift)
    rows, dim = int(header[1]), int(header[2])
    start = shift + len(first) + 1
    if dim < 1:
        raise UserError(f"the header gives vectors of dimension {dim}", where=f"{path}:1", hint=_SPECIFY)
    if not rest.strip(b"\r\n \t"):
        raise UserError(f"{path} has a header but no vectors", where=f"{path}:2", hint="Download or write it again.")
    text = format in ("word2vec-text", "fasttext")
    if not text and (format == "word2vec-binary" or not _is_text(rest, dim)):
        return _binary_format(path, rest, whole, FileFormat("word2vec-binary", dim, rows, start), float16)
    found = _width(path, rest, whole, dim)
    if found != dim:
        raise UserError(
            f"the header says {rows:,} rows of {dim:,} numbers, but the rows have {found:,} numbers",
            where=f"{path}:1",
            hint="Fix line 1, or remove it to read the file as GloVe.",
        )
    if dim == 1 and format is None and not (whole and len(rest.split(b"\n")) - rest.endswith(b"\n") == rows):
        raise UserError(
            f"line 1 may be a header ({rows:,} rows of one number) or the word {header[1].decode()} with its number",
            where=f"{path}:1",
            hint="Set `format`: word2vec-text or glove.",
        )
    space_at_end = rest.partition(b"\n")[0].rstrip(b"\r").endswith(b" ")
    fasttext = format == "fasttext" or (format is None and space_at_end and format_suffix(path) == ".vec")
    return FileFormat("fasttext" if fasttext else "word2vec-text", dim, rows, start)


def _read_sample(path: str | Path) -> tuple[bytes, bool]:
    """Read the first bytes of a file, uncompressed, with some complete lines, and whether they are the whole file."""
    head = bytearray()
    blocks = read_blocks(path)
    for block in blocks:
        head += block
        if len(head) >= _SAMPLE and (head.count(b"\n") > _LINES or len(head) >= _MAX_SAMPLE):
            return bytes(head), next(blocks, None) is None
    return bytes(head), True


def _reject_other_files(path: str | Path, head: bytes) -> None:
    for magic, what, hint in _OTHERS:
        if re.match(magic, head, re.DOTALL):
            raise UserError(f"{path} is {what}, expected word vectors", where=str(path), hint=hint)
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") < 1 << 27:
        raise UserError(
            f"{path} is a safetensors file, expected word vectors",
            where=str(path),
            hint="Name the folder that it lies in, with its config.json.",
        )


def _is_text(rest: bytes, dim: int) -> bool:
    """Whether one of the next lines has no control characters and ends in numbers, as bytes of floats never do."""
    lines = rest[:_SAMPLE].split(b"\n", 50)[:50]
    return any(_numbers_at_end(_fields(line)) >= min(dim, 2) and not _NOT_TEXT.search(line) for line in lines)


def _fields(line: bytes) -> list[bytes]:
    return [field for field in _SPACE.split(line.rstrip(b"\r")) if field]


def _numbers_at_end(fields: Sequence[bytes]) -> int:
    return sum(1 for _ in takewhile(_NUMBER.fullmatch, reversed(fields)))


def _width(path: str | Path, text: bytes, whole: bool, promised: int | None) -> int:
    """Find the number of numbers per row in a text: what most lines agree on.

    A line has at most as many as the numbers at its end, and one less than its fields, since there is a word.

    Args:
        promised: according to the header in line 1, if there is one; it breaks a tie.

    Raises:
        UserError: if there are no rows, or the lines do not agree.
    """
    lines = text.split(b"\n")
    if not whole:
        lines.pop()  # perhaps incomplete
    votes_by_width: Counter[int] = Counter()
    for line in lines[:_LINES]:
        fields = _fields(line)
        width = min(_numbers_at_end(fields), len(fields) - (not line.startswith((b" ", b"\t"))))
        if width > 0:
            votes_by_width[width] += 1
    if promised is not None and votes_by_width[promised] == max(votes_by_width.values(), default=0) > 0:
        return promised
    if not votes_by_width:
        line_number = 1 if promised is None else 2
        raise UserError(
            f"{path} is not a file of word vectors: line {line_number} is {_quoted(lines[0] if lines else text)}",
            where=f"{path}:{line_number}",
            hint=f"Expected a word and its numbers. {_SPECIFY}",
        )
    (width, votes), *others = votes_by_width.most_common(2)
    if others and others[0][1] * 2 > votes:
        raise UserError(
            f"rows differ in length: {votes} have {width} numbers, {others[0][1]} have {others[0][0]}",
            where=str(path),
            hint="Fix the file: every row needs a word and the same number of numbers.",
        )
    return width


def _binary_format(path: str | Path, rest: bytes, whole: bool, form: FileFormat, float16: bool | None) -> FileFormat:
    """Distinguish float32 from float16 by which of them leads from word to word.

    Raises:
        UserError: if neither does, or both do.
    """
    size = max(Path(path).stat().st_size, len(rest))
    packed = format_suffix(path) != Path(path).suffix.lower()
    if form.dim * 2 > size and (whole or not packed):
        raise UserError(
            f"the header says {form.rows:,} rows of {form.dim:,} numbers, at least {form.dim * 2:,} bytes each; "
            f"the file has {size:,} bytes",
            where=f"{path}:1",
            hint=f"Check that it is a complete file of word vectors. {_SPECIFY}",
        )
    if float16 is not None:
        return form._replace(itemsize=2 if float16 else 4)
    walks = {itemsize: _walk(rest, form, itemsize, whole) for itemsize in (4, 2)}
    best = max(walks.values())
    winners = [itemsize for itemsize, walk in walks.items() if walk == best]
    if best[1] < -0.5 or len(winners) > 1:
        raise UserError(
            f"{path} has a header, but what follows is neither clearly text nor clearly float16 or float32",
            where=f"{path}, byte {form.start}",
            hint=f"{_SPECIFY} With word2vec-binary, set `float16` to true or false.",
        )
    return form._replace(itemsize=winners[0])


def _walk(data: bytes, form: FileFormat, itemsize: int, whole: bool) -> tuple[bool, float]:
    """Step from word to word.

    Returns:
        Whether the file ends after the promised rows, and minus the share of invalid words; the greater pair is the
        more probable reading.
    """
    at, rows, bad = 0, 0, 0
    while rows < _MAX_ROWS:
        while data[at : at + 1] == b"\n":
            at += 1
        space = data.find(b" ", at)
        if space < 0:
            break
        if space + 1 + itemsize * form.dim <= len(data):
            rows += 1
            bad += not _is_valid_word(data[at:space])
        at = space + 1 + itemsize * form.dim
    return whole and at == len(data) and rows == form.rows, -bad / rows if rows else -1.0


def _is_valid_word(word: bytes) -> bool:
    if not word or _NOT_TEXT.search(word):
        return False
    try:
        word.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _quoted(line: bytes) -> str:
    text = line[:60].decode("utf-8", errors="backslashreplace").rstrip("\r")
    return f"{text!r}{' …' if len(line) > 60 else ''}"

"""Text on disk → documents, each with its file and line.

A document is a line, the text between blank lines, a whole file, or an object of a JSONL file. Long documents are
yielded in parts, split at line ends, so that a file larger than memory can be one document.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Literal, NamedTuple

from pellucid.corpus.cleaning import clean_line
from pellucid.corpus.config import Boundary
from pellucid.corpus.doctor.checks import AUTO_FIXED
from pellucid.corpus.hashing import hash_text
from pellucid.corpus.jsonl import JSONL_SUFFIXES, is_unicode, read_record
from pellucid.corpus.pairs import Issue, Location, decode
from pellucid.corpus.text_files import format_suffix, read_lines
from pellucid.errors import UserError

__all__ = [
    "BOUNDARY_WORDS",
    "MAX_PART",
    "Document",
    "RawDocument",
    "detect_boundary",
    "hash_document",
    "is_jsonl",
    "read_documents",
    "read_valid_documents",
]

MAX_PART = 1 << 16  # characters after which a document is split at the next line end
_LONG = 400  # characters; if the median text between blank lines is shorter, these are parts of one document
_SAMPLE = 10_000  # texts between blank lines from which the boundary is detected

BOUNDARY_WORDS = {"line": "each line", "blank-line": "the text between blank lines", "file": "the whole file"}
"""What a document is, for each boundary."""


class Document(NamedTuple):
    """A text, or a part of a long one.

    Attributes:
        text: the text to learn.
        location: where it begins.
        prompt: text before it that is given as context and not learned.
        begins: whether it is the first part of its document.
        ends: whether it is the last part.
    """

    text: str
    location: Location
    prompt: str = ""
    begins: bool = True
    ends: bool = True


class RawDocument(NamedTuple):
    """A document with its issues; `bom`, `line-separator` and `control-character` are already fixed in it."""

    document: Document
    issues: tuple[Issue, ...] = ()


def hash_document(document: Document) -> int:
    """Hash a document's prompt and text to 64 bits."""
    return hash_text(f"{document.prompt}\x1f{document.text}")


def is_jsonl(file: str | Path) -> bool:
    """Whether a file's lines are JSON objects, by its name."""
    return format_suffix(file) in JSONL_SUFFIXES


def detect_boundary(file: str) -> Boundary:
    """Detect from a file's blank lines what ends a document in it.

    A line end if there are no blank lines (except at the ends of the file); a blank line if the texts between them have
    a median length of at least 400 characters; otherwise the end of the file.

    Raises:
        UserError: if the file cannot be read.
    """
    lengths: list[int] = []
    length = 0
    for _, line in read_lines(file):
        if line.strip():
            length += len(line.decode("utf-8", "replace"))
        elif length:
            lengths.append(length)
            length = 0
            if len(lengths) == _SAMPLE:
                break
    if length:
        lengths.append(length)
    if len(lengths) < 2:
        return "line"
    return "blank-line" if median(lengths) >= _LONG else "file"


def read_documents(file: str, boundary: Boundary) -> Iterator[RawDocument]:
    """Yield the documents of a file, cleaned, in order; blank ones are skipped.

    Args:
        file: its path; a `.jsonl` file has one object per line, with `text`, or with `prompt` and `completion`.
        boundary: what ends a document of a plain text.

    Raises:
        UserError: if the file cannot be read.
    """
    if is_jsonl(file):
        yield from _of_objects(file)
    elif boundary == "line":
        for line in _cleaned_lines(file):
            if line.text.strip():
                yield RawDocument(Document(line.text.strip(), line.location), line.issues)
    else:
        yield from _of_lines(file, boundary)


def read_valid_documents(
    files: Sequence[str | Path],
    boundary: Boundary | Literal["auto"] = "auto",
    on_boundary: Callable[[str, Boundary], None] | None = None,
) -> Iterator[Document]:
    """Yield the documents of files in order, long ones in parts; stop with an error at the first unreadable one.

    For callers that need every document, such as scoring.

    Args:
        boundary: what ends a document of a plain text; `auto` detects it for each file.
        on_boundary: called with each plain text and what ends a document in it.

    Raises:
        UserError: at the first document that cannot be read, with file and line.
    """
    for file in map(str, files):
        ends_at = detect_boundary(file) if boundary == "auto" else boundary
        if on_boundary is not None and not is_jsonl(file):
            on_boundary(file, ends_at)
        for raw in read_documents(file, ends_at):
            for issue in raw.issues:
                if issue.check not in AUTO_FIXED and issue.check != "blank":  # an empty completion can be scored
                    raise UserError(
                        issue.message,
                        where=str(issue.location),
                        hint="Fix the file: this command needs every document and leaves nothing out.",
                    )
            yield raw.document


class _DocumentLine(NamedTuple):
    """A cleaned line of a text."""

    text: str
    location: Location
    issues: tuple[Issue, ...]


def _cleaned_lines(file: str) -> Iterator[_DocumentLine]:
    for number, line in read_lines(file):
        location = Location(file, number)
        text, issues = decode(line, location)
        text, fixed = clean_line(text)
        yield _DocumentLine(text, location, issues + tuple(Issue(check, location, message) for check, message in fixed))


def _of_lines(file: str, boundary: Boundary) -> Iterator[RawDocument]:
    """Yield the text between blank lines, or the whole file, in parts; blank lines around a document are dropped."""
    held: list[_DocumentLine] = []
    blank, length, begins = 0, 0, True
    for line in _cleaned_lines(file):
        if not line.text.strip():
            if boundary == "blank-line" and held:
                yield _joined(held, begins, True)
                held, length, begins = [], 0, True
            blank += bool(held)
            continue
        if length >= MAX_PART:
            yield _joined(held, begins, False)
            held, length, begins = [], 0, False
        if held or not begins:
            held += [_DocumentLine("", line.location, ())] * blank
        blank = 0
        held.append(line)
        length += len(line.text) + 1
    if held:
        yield _joined(held, begins, True)


def _joined(lines: list[_DocumentLine], begins: bool, ends: bool) -> RawDocument:
    text = "\n".join(line.text for line in lines) + ("" if ends else "\n")
    issues = tuple(issue for line in lines for issue in line.issues)
    return RawDocument(Document(text, lines[0].location, "", begins, ends), issues)


def _of_objects(file: str) -> Iterator[RawDocument]:
    for number, line in read_lines(file):
        location = Location(file, number)
        record, issues = read_record(line, location)
        if record is None:
            if issues:
                yield RawDocument(Document("", location), issues)
            continue
        names = ("text",) if "text" in record else ("prompt", "completion")
        if {"text", "prompt", "completion"} <= record.keys():
            issues += (Issue("json", location, "expected either text, or prompt and completion; got both"),)
        for name in names:
            value = record.get(name)
            if not isinstance(value, str):
                what = "not a string: field" if name in record else "no field"
                issues += (Issue("json", location, f"{what} {name}; expected text, or prompt and completion"),)
                break  # one issue per line
            elif not is_unicode(value):
                issues += (Issue("encoding", location, f"lone surrogate in {name}"),)
        texts, fixed = _cleaned_fields([str(record.get(name, "")) for name in names], location)
        prompt, text = texts if len(texts) == 2 else ("", texts[0])
        if prompt.strip() and not text.strip() and not issues:
            issues = (Issue("blank", location, "the completion is blank"),)
        if text.strip() or issues:
            yield RawDocument(Document(text, location, prompt), issues + fixed)


def _cleaned_fields(fields: list[str], location: Location) -> tuple[list[str], tuple[Issue, ...]]:
    """Clean each line of each field: a text in JSON may have several."""
    cleaned = [[clean_line(line) for line in field.replace("\r\n", "\n").split("\n")] for field in fields]
    fixed = {check: message for lines in cleaned for line in lines for check, message in line.fixed}
    return (
        ["\n".join(line.text for line in lines) for lines in cleaned],
        tuple(Issue(check, location, message) for check, message in fixed.items()),
    )

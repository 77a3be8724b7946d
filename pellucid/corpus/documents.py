"""Text on disk → documents, each knowing its file and line.

A document is a line, what stands between blank lines, a whole file, or an object of a JSONL file. A long one comes in
parts, cut at line ends, so that a file larger than memory can be one document.
"""

from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

from pellucid.corpus.cleaning import clean_line
from pellucid.corpus.documents_config import Boundary
from pellucid.corpus.jsonl import is_unicode, read_record
from pellucid.corpus.pairs import Location
from pellucid.corpus.raw_pairs import Issue, decode
from pellucid.corpus.text_files import format_suffix, read_lines

__all__ = ["MAX_PART", "Document", "RawDocument", "detect_boundary", "is_jsonl", "read_documents"]

MAX_PART = 1 << 16  # characters after which a document is cut at the next line end
_LONG = 400  # characters; texts between blank lines with a median below it are no documents but parts of one
_LOOKED_AT = 10_000  # texts between blank lines, from which is judged what they are


class Document(NamedTuple):
    """A text, or a part of a long one.

    Attributes:
        text: what is learnt.
        place: where it begins.
        prompt: what is given before it; nothing is learnt of it but to go on from it.
        begins: whether it is the first part of its document.
        ends: whether it is the last.
    """

    text: str
    location: Location
    prompt: str = ""
    begins: bool = True
    ends: bool = True


class RawDocument(NamedTuple):
    """A document with what is wrong with it; `bom`, `line-separator` and `control-character` are mended in it."""

    document: Document
    issues: tuple[Issue, ...] = ()


def is_jsonl(file: str | Path) -> bool:
    """Tell by a file's name whether its lines are JSON objects."""
    return format_suffix(file) in (".jsonl", ".ndjson")


def detect_boundary(file: str) -> Boundary:
    """Return what ends a document in a file: what its blank lines look like.

    A line where none is blank (or only at the ends); a blank line where what stands between them has a median of at
    least 400 characters; else the end of the file: there blank lines part what belongs together.

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
            if len(lengths) == _LOOKED_AT:
                break
    if length:
        lengths.append(length)
    if len(lengths) < 2:
        return "line"
    return "blank-line" if median(lengths) >= _LONG else "file"


def read_documents(file: str, boundary: Boundary) -> Iterator[RawDocument]:
    """Yield the documents of a file, cleaned, in order; blank ones are passed over.

    Args:
        file: its path; `.jsonl` holds an object a line, with `text`, or with `prompt` and `completion`.
        cut: what ends a document of a plain text.

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


class _Line(NamedTuple):
    text: str
    location: Location
    issues: tuple[Issue, ...]


def _cleaned_lines(file: str) -> Iterator[_Line]:
    for number, line in read_lines(file):
        location = Location(file, number)
        text, issues = decode(line, location)
        text, fixed = clean_line(text)
        yield _Line(text, location, issues + tuple(Issue(check, location, message) for check, message in fixed))


def _of_lines(file: str, boundary: Boundary) -> Iterator[RawDocument]:
    """Yield what stands between blank lines, or all of it, in parts; blank lines at the ends of a document fall."""
    held: list[_Line] = []
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
            held += [_Line("", line.location, ())] * blank
        blank = 0
        held.append(line)
        length += len(line.text) + 1
    if held:
        yield _joined(held, begins, True)


def _joined(lines: list[_Line], begins: bool, ends: bool) -> RawDocument:
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
            issues += (Issue("json", location, "text, and prompt and completion, too; expected one of the two"),)
        for name in names:
            value = record.get(name)
            if not isinstance(value, str):
                what = "no text in the field" if name in record else "no field"
                issues += (Issue("json", location, f"{what} {name}; expected text, or prompt and completion"),)
                break  # a line is wrong once
            elif not is_unicode(value):
                issues += (Issue("encoding", location, f"half a character (a lone surrogate) in {name}"),)
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

"""Text on disk → documents, each knowing its file and line.

A document is a line, what stands between blank lines, a whole file, or an object of a JSONL file. A long one comes in
parts, cut at line ends, so that a file larger than memory can be one document.
"""

from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

from pellucid.corpus.cleaning import clean_line
from pellucid.corpus.documents_config import Cut
from pellucid.corpus.jsonl import is_unicode, read_record
from pellucid.corpus.pairs import Place
from pellucid.corpus.raw_pairs import Fault, decode
from pellucid.corpus.text_files import plain_suffix, read_lines

__all__ = ["PART", "Document", "RawDocument", "choose_cut", "is_jsonl", "read_documents"]

PART = 1 << 16  # characters after which a document is cut at the next line end
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
    place: Place
    prompt: str = ""
    begins: bool = True
    ends: bool = True


class RawDocument(NamedTuple):
    """A document with what is wrong with it; `bom`, `line-separator` and `control-character` are mended in it."""

    document: Document
    faults: tuple[Fault, ...] = ()


def is_jsonl(file: str | Path) -> bool:
    """Tell by a file's name whether its lines are JSON objects."""
    return plain_suffix(file) in (".jsonl", ".ndjson")


def choose_cut(file: str) -> Cut:
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


def read_documents(file: str, cut: Cut) -> Iterator[RawDocument]:
    """Yield the documents of a file, cleaned, in order; blank ones are passed over.

    Args:
        file: its path; `.jsonl` holds an object a line, with `text`, or with `prompt` and `completion`.
        cut: what ends a document of a plain text.

    Raises:
        UserError: if the file cannot be read.
    """
    if is_jsonl(file):
        yield from _of_objects(file)
    elif cut == "line":
        for line in _cleaned_lines(file):
            if line.text.strip():
                yield RawDocument(Document(line.text.strip(), line.place), line.faults)
    else:
        yield from _of_lines(file, cut)


class _Line(NamedTuple):
    text: str
    place: Place
    faults: tuple[Fault, ...]


def _cleaned_lines(file: str) -> Iterator[_Line]:
    for number, line in read_lines(file):
        place = Place(file, number)
        text, faults = decode(line, place)
        text, mended = clean_line(text)
        yield _Line(text, place, faults + tuple(Fault(check, place, message) for check, message in mended))


def _of_lines(file: str, cut: Cut) -> Iterator[RawDocument]:
    """Yield what stands between blank lines, or all of it, in parts; blank lines at the ends of a document fall."""
    held: list[_Line] = []
    blank, length, begins = 0, 0, True
    for line in _cleaned_lines(file):
        if not line.text.strip():
            if cut == "blank-line" and held:
                yield _joined(held, begins, True)
                held, length, begins = [], 0, True
            blank += bool(held)
            continue
        if length >= PART:
            yield _joined(held, begins, False)
            held, length, begins = [], 0, False
        if held or not begins:
            held += [_Line("", line.place, ())] * blank
        blank = 0
        held.append(line)
        length += len(line.text) + 1
    if held:
        yield _joined(held, begins, True)


def _joined(lines: list[_Line], begins: bool, ends: bool) -> RawDocument:
    text = "\n".join(line.text for line in lines) + ("" if ends else "\n")
    faults = tuple(fault for line in lines for fault in line.faults)
    return RawDocument(Document(text, lines[0].place, "", begins, ends), faults)


def _of_objects(file: str) -> Iterator[RawDocument]:
    for number, line in read_lines(file):
        place = Place(file, number)
        record, faults = read_record(line, place)
        if record is None:
            if faults:
                yield RawDocument(Document("", place), faults)
            continue
        names = ("text",) if "text" in record else ("prompt", "completion")
        if {"text", "prompt", "completion"} <= record.keys():
            faults += (Fault("json", place, "text, and prompt and completion, too; expected one of the two"),)
        for name in names:
            value = record.get(name)
            if not isinstance(value, str):
                what = "no text in the field" if name in record else "no field"
                faults += (Fault("json", place, f"{what} {name}; expected text, or prompt and completion"),)
                break  # a line is wrong once
            elif not is_unicode(value):
                faults += (Fault("encoding", place, f"half a character (a lone surrogate) in {name}"),)
        texts, mended = _cleaned_fields([str(record.get(name, "")) for name in names], place)
        prompt, text = texts if len(texts) == 2 else ("", texts[0])
        if prompt.strip() and not text.strip() and not faults:
            faults = (Fault("blank", place, "the completion is blank"),)
        if text.strip() or faults:
            yield RawDocument(Document(text, place, prompt), faults + mended)


def _cleaned_fields(fields: list[str], place: Place) -> tuple[list[str], tuple[Fault, ...]]:
    """Clean each line of each field: a text in JSON may have several."""
    cleaned = [[clean_line(line) for line in field.replace("\r\n", "\n").split("\n")] for field in fields]
    mended = {check: message for lines in cleaned for line in lines for check, message in line.mended}
    return (
        ["\n".join(line.text for line in lines) for lines in cleaned],
        tuple(Fault(check, place, message) for check, message in mended.items()),
    )

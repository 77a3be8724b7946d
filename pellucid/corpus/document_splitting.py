"""Hold out documents for validation: a pure function of the text, the same on every machine.

Of many documents, those with the smallest hashes are held out. Of few documents, the end of each long one: a model of
a single book is validated on its last pages.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pellucid.corpus.documents import Document, hash_document
from pellucid.corpus.splitting import smallest_hashes, validation_size

__all__ = ["HeldOutDocuments", "hold_out_documents"]

_MANY = 50  # minimum number of documents for holding out whole documents
_LAST = 0.05  # share of each long document that is held out if there are few
_LONG = 2000  # characters; shorter documents are not split if there are few
_MAX_LAST = 200_000  # characters held out of one document

Stream = Callable[[], Iterator[Document]]


@dataclass(frozen=True)
class HeldOutDocuments:
    """Validation documents, and the others.

    Attributes:
        how: a description of the selection, for people.
        valid, training: stream the documents in file order; every call starts again.
    """

    how: str
    valid: Stream
    training: Stream


def hold_out_documents(documents: Stream, count: int) -> HeldOutDocuments:
    """Hold out documents, or ends of documents, for validation; only numbers are kept in memory.

    Args:
        documents: streams all documents, long ones in parts, the same in every call.
    """
    if count >= _MANY:
        # A long document is hashed by its first part.
        hashes = ((hash_document(document), None) for document in documents() if document.begins)
        held = frozenset(smallest_hashes(hashes, validation_size(count)))
        return HeldOutDocuments(
            "held out by a hash of the text",
            lambda: (document for document, chosen in _marked(documents(), held) if chosen),
            lambda: (document for document, chosen in _marked(documents(), held) if not chosen),
        )
    borders = _borders(documents())
    return HeldOutDocuments(
        "the end of each long document, 5 % of it",
        lambda: _after(documents(), borders),
        lambda: _before(documents(), borders),
    )


def _borders(documents: Iterator[Document]) -> list[int]:
    """The number of training characters of each document: all, if it is short or has a prompt."""
    lengths: list[int] = []
    whole: list[bool] = []
    for document in documents:
        if document.begins:
            lengths.append(0)
            whole.append(bool(document.prompt))
        lengths[-1] += len(document.text)
    return [
        length if length < _LONG or is_whole else length - min(int(_LAST * length), _MAX_LAST)
        for length, is_whole in zip(lengths, whole, strict=True)
    ]


def _marked(documents: Iterator[Document], held: frozenset[int]) -> Iterator[tuple[Document, bool]]:
    chosen = False
    for document in documents:
        if document.begins:
            chosen = hash_document(document) in held
        yield document, chosen


def _numbered(documents: Iterator[Document]) -> Iterator[tuple[int, int, Document]]:
    """Yield each part with the number of its document and the number of characters before it."""
    number, before = -1, 0
    for document in documents:
        if document.begins:
            number, before = number + 1, 0
        yield number, before, document
        before += len(document.text)


def _before(documents: Iterator[Document], borders: list[int]) -> Iterator[Document]:
    """Yield the documents without their held-out ends, which begin at a line start if possible."""
    for number, before, part in _numbered(documents):
        place = _cut(part.text, borders[number] - before)
        if place >= len(part.text) and not part.ends and before + len(part.text) >= borders[number]:
            yield part._replace(text=part.text.rstrip("\n"), ends=True)
        elif place >= len(part.text):
            yield part
        elif place > 0:
            yield part._replace(text=part.text[:place].rstrip("\n"), ends=True)


def _after(documents: Iterator[Document], borders: list[int]) -> Iterator[Document]:
    """Yield the held-out ends of documents."""
    began = -1
    for number, before, part in _numbered(documents):
        place = _cut(part.text, borders[number] - before)
        if place < len(part.text):
            text = part.text[max(place, 0) :]
            yield part._replace(text=text if number == began else text.lstrip("\n"), begins=number != began)
            began = number


def _cut(text: str, wanted: int) -> int:
    """The position to cut at: the first line end at or after `wanted`, else `wanted`; clipped to the text."""
    if wanted <= 0 or wanted >= len(text):
        return min(max(wanted, 0), len(text))
    line_end = text.find("\n", wanted)
    return wanted if line_end < 0 else line_end + 1

"""The tokens of a text as a model reads them, for people."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

__all__ = ["PieceLike", "PieceSource", "Token", "labels", "padding", "tokens_of"]


class PieceLike(Protocol):
    """One id as it stands in a text."""

    @property
    def id(self) -> int:
        """The id."""
        ...

    @property
    def bytes(self) -> bytes:
        """What it adds to the text."""
        ...

    @property
    def start(self) -> int:
        """First character."""
        ...

    @property
    def end(self) -> int:
        """Character after the last."""
        ...

    @property
    def display(self) -> str:
        """For people."""
        ...


class PieceSource(Protocol):
    """A tokenizer, as far as tokens are shown."""

    def __hash__(self) -> int:
        """Return a number that tells it from others."""
        ...

    def pieces_from_ids(self, ids: Sequence[int], /) -> Sequence[PieceLike]:
        """Return the pieces of ids with their bytes and offsets."""
        ...


class Token(NamedTuple):
    """One token of a text.

    Attributes:
        position: where it stands, from 0.
        bytes: what it adds to the text in UTF-8, maybe a part of a character; nothing for a special one.
        display: for people: `▁` for a space, `水⟨E6⟩` for the byte E6 of a 水, `⟨end⟩` for a special one.
        offsets: the characters of the text that it covers, end excluded.
        special: whether it stands for no text: start, end, a placeholder, padding.
        padding: whether it only fills a batch up; nobody looks at it.
    """

    position: int
    id: int
    bytes: bytes
    display: str
    offsets: tuple[int, int]
    special: bool
    padding: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it; the bytes as hexadecimal digits."""
        return {**self._asdict(), "bytes": self.bytes.hex(), "offsets": list(self.offsets)}


def tokens_of(tokenizer: PieceSource, ids: Sequence[int]) -> tuple[Token, ...]:
    """Return the tokens of ids, special ones included."""
    return tuple(
        Token(i, piece.id, piece.bytes, piece.display, (piece.start, piece.end), not piece.bytes and _named(piece))
        for i, piece in enumerate(tokenizer.pieces_from_ids(ids))
    )


def padding(pad_id: int, start: int, count: int) -> tuple[Token, ...]:
    """Return tokens that fill a row up from position `start`."""
    return tuple(Token(start + i, pad_id, b"", "⟨pad⟩", (0, 0), True, True) for i in range(count))


def labels(tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return what the tokens are called along an axis."""
    return tuple(token.display for token in tokens)


def _named(piece: PieceLike) -> bool:
    """Tell a special token, shown as ⟨end⟩, from a piece that happens to add nothing (the space before a text)."""
    return piece.display.startswith("⟨") or piece.display.startswith("<")

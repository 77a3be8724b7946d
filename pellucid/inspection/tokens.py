"""The tokens of a text as a model reads them, in a form that people can read."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pellucid.tokenizers import LanguageTokenizer, Piece

__all__ = ["Token", "labels", "padding", "tokens_of"]


class Token(NamedTuple):
    """One token of a text.

    Attributes:
        position: from 0.
        bytes: the UTF-8 that it adds to the text, possibly a part of a character; empty for a special token.
        display: readable form: `▁` for a space, `水⟨E6⟩` for the byte E6 of 水, `⟨end⟩` for a special token.
        offsets: the characters of the text that it covers, end excluded.
        special: whether it stands for no text: start, end, a placeholder, padding.
        padding: whether it pads a batch; attention ignores it.
    """

    position: int
    id: int
    bytes: bytes
    display: str
    offsets: tuple[int, int]
    special: bool
    padding: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Convert to JSON types; the bytes as hexadecimal digits."""
        return {**self._asdict(), "bytes": self.bytes.hex(), "offsets": list(self.offsets)}


def tokens_of(tokenizer: LanguageTokenizer, ids: Sequence[int]) -> tuple[Token, ...]:
    """Describe the tokens of ids, special tokens included."""
    return tuple(
        Token(i, piece.id, piece.bytes, piece.display, (piece.start, piece.end), not piece.bytes and _is_named(piece))
        for i, piece in enumerate(tokenizer.pieces_from_ids(ids))
    )


def padding(pad_id: int, start: int, count: int) -> tuple[Token, ...]:
    """Describe `count` padding tokens from position `start`."""
    return tuple(Token(start + i, pad_id, b"", "⟨pad⟩", (0, 0), True, True) for i in range(count))


def labels(tokens: Sequence[Token]) -> tuple[str, ...]:
    """Label the entries of an axis by tokens."""
    return tuple(token.display for token in tokens)


def _is_named(piece: Piece) -> bool:
    """Tell a special token, displayed as ⟨end⟩, from a piece that adds no text (the space before a text)."""
    return piece.display.startswith("⟨") or piece.display.startswith("<")

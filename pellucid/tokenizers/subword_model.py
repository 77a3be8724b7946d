"""The interface shared by all kinds of tokenizer: splitting one escaped word into pieces."""

from collections.abc import Sequence
from typing import Protocol

from pellucid.tokenizers.config import TokenizerKind

__all__ = ["SubwordModel"]


class SubwordModel(Protocol):
    """Splits a word (see `Alphabet.split`) into pieces.

    A piece's number is its index in `pieces`, which begins with the alphabet's base symbols, so that every word can be
    split. Special ids are handled by `Tokenizer`, which puts them before the pieces.
    """

    @property
    def kind(self) -> TokenizerKind:
        """The kind of tokenizer."""

    @property
    def pieces(self) -> Sequence[str]:
        """All pieces, escaped, by number."""

    def split(self, word: str) -> list[int]:
        """Split a word into the numbers of its pieces; the pieces joined are the word."""

    def as_dict(self) -> dict[str, object]:
        """What the file holds besides the alphabet."""

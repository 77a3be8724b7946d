"""What the kinds of tokenizer have in common: each cuts one escaped word into pieces."""

from collections.abc import Sequence
from typing import Protocol

from pellucid.tokenizers.config import TokenizerKind

__all__ = ["SubwordModel"]


class SubwordModel(Protocol):
    """Cuts a word (see `Alphabet.split`) into pieces.

    A piece's number is its place in `pieces`, which begins with the alphabet's signs; a word made of signs can
    therefore always be cut. The special ids are not its business: `Tokenizer` puts them before the pieces.
    """

    @property
    def kind(self) -> TokenizerKind:
        """Name of the kind."""

    @property
    def pieces(self) -> Sequence[str]:
        """Every piece, escaped, by its number."""

    def split(self, word: str) -> list[int]:
        """Return the numbers of the pieces; the pieces joined are the word."""

    def as_dict(self) -> dict[str, object]:
        """Serialize the model, without the alphabet."""

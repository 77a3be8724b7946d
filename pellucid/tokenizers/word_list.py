"""Whole words, and single characters: the two kinds that need no subword model."""

from collections.abc import Mapping, Sequence
from typing import Literal

__all__ = ["WordList", "train_words"]

_MIN_COUNT = 2


class WordList:
    """Known words are one piece, unknown ones fall into characters and bytes.

    With no words at all it is the tokenizer of characters.
    """

    def __init__(
        self, kind: Literal["words", "characters"], base_symbols: Sequence[str], words: Sequence[str] = ()
    ) -> None:
        self.kind: Literal["words", "characters"] = kind
        self.pieces = (*base_symbols, *words)
        self._number = {piece: number for number, piece in enumerate(self.pieces)}
        self._words = tuple(words)

    def split(self, word: str) -> list[int]:
        """Return the number of the word, or those of its characters."""
        number = self._number.get(word)
        return [self._number[character] for character in word] if number is None else [number]

    def as_dict(self) -> dict[str, object]:
        """Serialize the model, without the alphabet."""
        return {"words": list(self._words)} if self.kind == "words" else {}


def train_words(words: Mapping[str, int], base_symbols: Sequence[str], room: int) -> WordList:
    """Take the most frequent words of more than one sign, at most `room`, each seen twice at least.

    A run of Chinese characters counts as a word: frequent short ones become pieces, all others fall into characters.
    """
    ranked = sorted((-count, word) for word, count in words.items() if len(word) > 1 and count >= _MIN_COUNT)
    return WordList("words", base_symbols, [word for _, word in ranked[:room]])

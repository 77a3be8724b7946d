"""Whole words and single characters: the two kinds without a subword model."""

from collections.abc import Mapping, Sequence
from typing import Literal

__all__ = ["WordList", "train_words"]

_MIN_COUNT = 2


class WordList:
    """Known words are one piece, unknown words are split into characters and bytes.

    Without words it is the tokenizer of characters.
    """

    def __init__(
        self, kind: Literal["words", "characters"], base_symbols: Sequence[str], words: Sequence[str] = ()
    ) -> None:
        self.kind: Literal["words", "characters"] = kind
        self.pieces = (*base_symbols, *words)
        self._number = {piece: number for number, piece in enumerate(self.pieces)}
        self._words = tuple(words)

    def split(self, word: str) -> list[int]:
        """The number of the word, or those of its characters."""
        number = self._number.get(word)
        return [self._number[character] for character in word] if number is None else [number]

    def as_dict(self) -> dict[str, object]:
        """What the file holds besides the alphabet."""
        return {"words": list(self._words)} if self.kind == "words" else {}


def train_words(words: Mapping[str, int], base_symbols: Sequence[str], room: int) -> WordList:
    """Take the most frequent words of more than one symbol, at most `room`, that occur at least twice.

    A run of Chinese characters counts as a word: frequent short ones become pieces, others are split into characters.
    """
    ranked = sorted((-count, word) for word, count in words.items() if len(word) > 1 and count >= _MIN_COUNT)
    return WordList("words", base_symbols, [word for _, word in ranked[:room]])

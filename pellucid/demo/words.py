"""Words that remember what they translate, and how a sentence of them becomes text and links."""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy

__all__ = ["SentenceRng", "Word", "Words", "find_links", "spell_chinese", "spell_english", "tag"]

T = TypeVar("T")

_NO_SPACE_BEFORE = frozenset({".", "?", "!", ",", "'s"})
_VOWEL_LETTER_CONSONANT_SOUND = ("eu", "one", "uni", "use", "usu")


class Word(NamedTuple):
    """A word of one language; two words of the two languages are linked when they share a key."""

    text: str
    keys: tuple[int, ...]


Words = tuple[Word, ...]


def tag(text: str, *keys: int) -> Words:
    """Return the words of `text`, split at its spaces, each of them carrying `keys`."""
    return tuple([Word(part, keys) for part in text.split()])


class SentenceRng:
    """The choices of one sentence: dice, fresh keys, and the word combinations that were made.

    Attributes:
        combinations: (modifier or verb, noun) pairs of Chinese words that stand in direct relation in the sentence.
    """

    def __init__(self, dice: numpy.random.Generator) -> None:
        self._dice = dice
        self._last_key = 0
        self.combinations: set[tuple[str, str]] = set()

    def new_key(self) -> int:
        """Return a key that no word of this sentence carries yet."""
        self._last_key += 1
        return self._last_key

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return bool(self._dice.random() < probability)

    def choose(self, options: Sequence[T]) -> T:
        """Return one of `options`, each equally likely."""
        return options[int(self._dice.random() * len(options))]

    def weighted(self, options: Sequence[tuple[float, T]]) -> T:
        """Return one of the (weight, option) pairs' options, as likely as its weight says."""
        left = self._dice.random() * sum([weight for weight, _ in options])
        for weight, option in options:
            left -= weight
            if left < 0:
                return option
        return options[-1][1]

    def combine(self, word: str, noun: str) -> None:
        """Note that a verb or adjective and a noun stand in direct relation."""
        self.combinations.add((word, noun))


def find_links(source: Words, target: Words) -> tuple[tuple[int, int], ...]:
    """Return the sorted (source index, target index) pairs of the words that share a key."""
    carriers: dict[int, list[int]] = {}
    for i, word in enumerate(source):
        for key in word.keys:
            carriers.setdefault(key, []).append(i)
    return tuple(sorted({(i, j) for j, word in enumerate(target) for key in word.keys for i in carriers.get(key, ())}))


def spell_chinese(words: Words) -> tuple[str, tuple[str, ...]]:
    """Return the sentence as Chinese is written, without spaces, and its words."""
    texts = tuple(word.text for word in words)
    return "".join(texts), texts


def spell_english(words: Words) -> tuple[str, tuple[str, ...]]:
    """Return the sentence as English is written, and its words: `a` or `an` settled, the first letter large."""
    texts = [word.text for word in words]
    for index, text in enumerate(texts[:-1]):
        if text == "a" and _sounds_open(texts[index + 1]):
            texts[index] = "an"
    texts[0] = texts[0][0].upper() + texts[0][1:]
    spaced = "".join(text if text in _NO_SPACE_BEFORE else " " + text for text in texts)
    return spaced[1:], tuple(texts)


def _sounds_open(word: str) -> bool:
    return word[0] in "aeiouA" and not word.startswith(_VOWEL_LETTER_CONSONANT_SOUND)

"""Words tagged with alignment keys, and how a sentence of them becomes text and links."""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy

__all__ = ["SentenceRng", "Word", "Words", "find_links", "spell_chinese", "spell_english", "tag"]

T = TypeVar("T")

_NO_SPACE_BEFORE = frozenset({".", "?", "!", ",", "'s"})
_VOWEL_LETTER_CONSONANT_SOUND = ("eu", "one", "uni", "use", "usu")


class Word(NamedTuple):
    """A word of one language; words of the two languages are aligned if they share a key."""

    text: str
    keys: tuple[int, ...]


Words = tuple[Word, ...]


def tag(text: str, *keys: int) -> Words:
    """Split `text` at spaces and tag every word with the alignment keys."""
    return tuple([Word(part, keys) for part in text.split()])


class SentenceRng:
    """The random choices of one sentence, which also hands out alignment keys and records word combinations.

    Attributes:
        combinations: (adjective or verb, noun) pairs of Chinese words that modify or govern each other.
    """

    def __init__(self, rng: numpy.random.Generator) -> None:
        self._rng = rng
        self._last_key = 0
        self.combinations: set[tuple[str, str]] = set()

    def new_key(self) -> int:
        """Return a key that no word of this sentence has yet."""
        self._last_key += 1
        return self._last_key

    def new_keys(self, count: int) -> list[int]:
        """Return `count` new keys."""
        return [self.new_key() for _ in range(count)]

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return bool(self._rng.random() < probability)

    def choose(self, options: Sequence[T]) -> T:
        """Choose one of `options` uniformly."""
        return options[int(self._rng.random() * len(options))]

    def weighted(self, options: Sequence[tuple[float, T]]) -> T:
        """Choose from (weight, option) pairs with probability proportional to weight."""
        left = self._rng.random() * sum([weight for weight, _ in options])
        for weight, option in options:
            left -= weight
            if left < 0:
                return option
        return options[-1][1]

    def combine(self, word: str, noun: str) -> None:
        """Record that a verb governs, or an adjective modifies, a noun."""
        self.combinations.add((word, noun))


def find_links(source: Words, target: Words) -> tuple[tuple[int, int], ...]:
    """Find the sorted (source index, target index) pairs of words that share a key."""
    carriers: dict[int, list[int]] = {}
    for i, word in enumerate(source):
        for key in word.keys:
            carriers.setdefault(key, []).append(i)
    return tuple(sorted({(i, j) for j, word in enumerate(target) for key in word.keys for i in carriers.get(key, ())}))


def spell_chinese(words: Words) -> tuple[str, tuple[str, ...]]:
    """Write a Chinese sentence, without spaces, and list its words."""
    texts = tuple(word.text for word in words)
    return "".join(texts), texts


def spell_english(words: Words) -> tuple[str, tuple[str, ...]]:
    """Write an English sentence, with `a` or `an` and a capital first letter, and list its words."""
    texts = [word.text for word in words]
    for index, text in enumerate(texts[:-1]):
        if text == "a" and _sounds_open(texts[index + 1]):
            texts[index] = "an"
    texts[0] = texts[0][0].upper() + texts[0][1:]
    spaced = "".join(text if text in _NO_SPACE_BEFORE else " " + text for text in texts)
    return spaced[1:], tuple(texts)


def _sounds_open(word: str) -> bool:
    return word[0] in "aeiouA" and not word.startswith(_VOWEL_LETTER_CONSONANT_SOUND)

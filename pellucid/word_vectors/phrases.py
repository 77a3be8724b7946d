"""Words that stand together more often than chance: made one word each, new_york, before vectors are trained.

Two scores of a pair a b, of its count and its words' counts:

    original   (count(a b) − min_count) / count(a) / count(b) · vocab_size          threshold 10
    npmi       ln(p(a b) / (p(a) p(b))) / −ln p(a b)                                threshold 0.5

NPMI runs from −1 (never together) to 1 (never apart) whatever the size of the text; p are shares of all words. Longer
phrases come of a second pass over the text that the first has joined.

Source:
    Mikolov et al. 2013 (Distributed Representations), eq. 6; Bouma 2009 for NPMI. Differs from source: the original
    score is multiplied by the number of different words, as in word2phrase's successors, so that a threshold suits
    texts of different sizes.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy

from pellucid.errors import UserError
from pellucid.word_vectors.encoded_text import EncodedText, TextSource, encode_text

__all__ = ["Phrase", "Phrases", "find_phrases", "npmi", "original_score", "phrases_of"]

Score = Literal["npmi", "original"]
_THRESHOLDS: dict[Score, float] = {"npmi": 0.5, "original": 10.0}


class Phrase(NamedTuple):
    """A pair of words that becomes one.

    Attributes:
        together: how often they stand together.
    """

    first: str
    second: str
    score: float
    together: int


@dataclass(frozen=True)
class Phrases:
    """The pairs that were found, best first; joins them in sentences."""

    found: tuple[Phrase, ...]
    joiner: str = "_"

    def joined(self, sentences: Iterable[Iterable[str]]) -> Iterator[list[str]]:
        """Yield sentences with phrases made one word each; from left to right, of two that overlap the first."""
        pairs = {(phrase.first, phrase.second) for phrase in self.found}
        for sentence in sentences:
            words: list[str] = []
            free = False  # whether the last word may begin a phrase
            for word in sentence:
                if free and (words[-1], word) in pairs:
                    words[-1] += self.joiner + word
                    free = False
                else:
                    words.append(word)
                    free = True
            yield words


def find_phrases(
    text: TextSource,
    *,
    score: Score = "npmi",
    threshold: float | None = None,
    min_count: int = 5,
    tokenizer: str = "whitespace",
    lowercase: bool = False,
    common: Sequence[str] = (),
    joiner: str = "_",
) -> Phrases:
    """Return the pairs of neighbouring words whose score is above a threshold.

    Args:
        text: as for `WordVectors.train`.
        score: npmi or original.
        threshold: 0.5 for npmi and 10 for original unless given; lower finds more.
        min_count: pairs, and words, that are rarer count for nothing.
        common: words that are part of no phrase, as "the".
        joiner: what stands between the words of a phrase.

    Raises:
        UserError: for a text without words, or a threshold that npmi cannot reach.
    """
    with tempfile.TemporaryDirectory(prefix="pellucid-") as folder:
        encoded = encode_text(text, Path(folder), tokenizer=tokenizer, lowercase=lowercase, min_count=1)
        return phrases_of(encoded, score=score, threshold=threshold, min_count=min_count, common=common, joiner=joiner)


def phrases_of(
    encoded: EncodedText,
    *,
    score: Score = "npmi",
    threshold: float | None = None,
    min_count: int = 5,
    common: Sequence[str] = (),
    joiner: str = "_",
) -> Phrases:
    """Return what `find_phrases` does, of a text that was encoded with all its words."""
    if score not in _THRESHOLDS:
        raise UserError(f"unknown score {score!r} of phrases", hint="Use npmi or original.")
    least = _THRESHOLDS[score] if threshold is None else threshold
    if score == "npmi" and not -1 <= least <= 1:
        raise UserError(f"npmi lies between −1 and 1, got the threshold {least}")
    ids, vocab_size = encoded.ids.ids, len(encoded.words)
    inside = numpy.ones(max(0, len(ids) - 1), numpy.bool_)
    borders = encoded.ids.ends[:-1]
    borders = borders[(borders > 0) & (borders < len(ids))]
    inside[borders - 1] = False  # a pair does not cross the end of a sentence
    kept = encoded.counts >= min_count
    kept[[n for n, word in enumerate(encoded.words) if word in set(common)]] = False
    inside &= kept[ids[:-1]] & kept[ids[1:]]
    pairs, counts = numpy.unique(
        ids[:-1][inside].astype(numpy.int64) * vocab_size + ids[1:][inside], return_counts=True
    )
    found = []
    for pair, count in zip(pairs[counts >= min_count].tolist(), counts[counts >= min_count].tolist(), strict=True):
        first, second = divmod(pair, vocab_size)
        alone = int(encoded.counts[first]), int(encoded.counts[second])
        if score == "npmi":
            value = npmi(count, *alone, encoded.words_read)
        else:
            value = original_score(count, *alone, vocab_size, min_count)
        if value > least:
            found.append(Phrase(encoded.words[first], encoded.words[second], value, count))
    return Phrases(tuple(sorted(found, key=lambda one: (-one.score, -one.together, one.first, one.second))), joiner)


def npmi(together: int, first: int, second: int, words: int) -> float:
    """Return ln(p(a b) / (p(a) p(b))) / −ln p(a b), of counts among so many words."""
    if together == words:
        return 1.0
    return math.log(together * words / (first * second)) / -math.log(together / words)


def original_score(together: int, first: int, second: int, vocab_size: int, min_count: int) -> float:
    """Return (count(a b) − min_count) / count(a) / count(b) · vocab_size."""
    return (together - min_count) / first / second * vocab_size

"""Phrases: words that occur together more often than by chance, joined to one word (new_york) before training.

Two scores of a pair a b, from its count and its words' counts:

    original   (count(a b) − min_count) / count(a) / count(b) · vocab_size          threshold 10
    npmi       ln(p(a b) / (p(a) p(b))) / −ln p(a b)                                threshold 0.5

NPMI ranges from −1 (never together) to 1 (always together) for any text size; p are shares of all words. Longer phrases
result from a second pass over the joined text.

Source:
    Mikolov et al. 2013 (Distributed Representations), eq. 6; Bouma 2009 for NPMI. Differs from source: the original
    score is multiplied by the number of distinct words, as in word2phrase's successors, so that a threshold suits
    texts of different sizes.
"""

import math
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy

from pellucid.errors import UserError
from pellucid.word_vectors.encoded_text import EncodedText, TextSource, encode_text

__all__ = ["Phrase", "Phrases", "find_phrases", "find_phrases_in", "npmi", "original_score"]

Score = Literal["npmi", "original"]
_THRESHOLDS: dict[Score, float] = {"npmi": 0.5, "original": 10.0}


class Phrase(NamedTuple):
    """A pair of words that is joined to one.

    Attributes:
        together: number of times they occur together.
    """

    first: str
    second: str
    score: float
    together: int


@dataclass(frozen=True)
class Phrases:
    """The pairs found, best first."""

    found: tuple[Phrase, ...]
    joiner: str = "_"

    def join(self, sentences: Iterable[Iterable[str]]) -> Iterator[list[str]]:
        """Yield sentences with each phrase joined to one word; where pairs overlap, the left one is joined."""
        pairs = {(phrase.first, phrase.second) for phrase in self.found}
        for sentence in sentences:
            words: list[str] = []
            free = False  # whether the last word can start a phrase
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
    """Find the pairs of adjacent words whose score is above a threshold.

    Args:
        text: as for `WordVectors.train`.
        threshold: 0.5 for npmi and 10 for original by default; lower finds more.
        min_count: rarer pairs and words are ignored.
        common: words that are never part of a phrase, such as "the".
        joiner: the string between the words of a phrase.

    Raises:
        UserError: for a text without words, or a threshold outside the range of npmi.
    """
    with tempfile.TemporaryDirectory(prefix="pellucid-") as folder:
        encoded = encode_text(text, Path(folder), tokenizer=tokenizer, lowercase=lowercase, min_count=1)
        return find_phrases_in(
            encoded, score=score, threshold=threshold, min_count=min_count, common=common, joiner=joiner
        )


def find_phrases_in(
    encoded: EncodedText,
    *,
    score: Score = "npmi",
    threshold: float | None = None,
    min_count: int = 5,
    common: Sequence[str] = (),
    joiner: str = "_",
) -> Phrases:
    """Find phrases in a text that was encoded with all its words; see `find_phrases`."""
    if score not in _THRESHOLDS:
        raise UserError(f"unknown phrase score {score!r}", where="phrase_score", hint="Use npmi or original.")
    least = _THRESHOLDS[score] if threshold is None else threshold
    if score == "npmi" and not -1 <= least <= 1:
        raise UserError(
            f"expected a threshold from −1 to 1 for npmi, got {least}",
            where="phrase_threshold",
            hint="Pass a number such as 0.5, the default.",
        )
    ids, vocab_size = encoded.ids.ids, len(encoded.words)
    inside = numpy.ones(max(0, len(ids) - 1), numpy.bool_)
    borders = encoded.ids.ends[:-1]
    borders = borders[(borders > 0) & (borders < len(ids))]
    inside[borders - 1] = False  # a pair does not cross a sentence end
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
    """Compute ln(p(a b) / (p(a) p(b))) / −ln p(a b) from counts in a text of `words` words."""
    if together == words:
        return 1.0
    return math.log(together * words / (first * second)) / -math.log(together / words)


def original_score(together: int, first: int, second: int, vocab_size: int, min_count: int) -> float:
    """Compute (count(a b) − min_count) / count(a) / count(b) · vocab_size."""
    return (together - min_count) / first / second * vocab_size

"""Unigram pieces: each piece has a probability, and a word is split the most probable way.

Splitting uses Hugging Face's `tokenizers`. Training is our own: theirs adds floating-point numbers in an order that
depends on threads, so that the same text gives a different tokenizer each time, and takes minutes for text without
spaces between words.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from tokenizers import models

from pellucid.tokenizers.alphabet import BYTES
from pellucid.tokenizers.byte_pairs import learn_merges

__all__ = ["Unigram", "train_unigram"]

_SEED_FACTOR = 4  # candidates for each piece of the vocabulary
_SHRINKING_FACTOR = 0.7  # share of the pieces kept by a round of pruning
_UNSEEN = 0.5  # occurrences assumed for a character that no word needs, so that it stays usable
_BYTE_SCORE = -20.0  # a byte is always a word by itself, so any score works
_DIGITS = 6  # decimal places of a score in the file


class Unigram:
    """Splits a word into the pieces whose probabilities have the highest product.

    Source:
        Kudo 2018, "Subword Regularization", §3.2.
    """

    kind: Literal["unigram"] = "unigram"

    def __init__(self, base_symbols: Sequence[str], scores: Mapping[str, float]) -> None:
        """Create the model from the scores (natural log-probabilities) of all characters and longer pieces."""
        self.pieces = (
            *base_symbols,
            *sorted(scores.keys() - set(base_symbols), key=lambda piece: (-scores[piece], piece)),
        )
        self._scores = {piece: scores[piece] for piece in self.pieces[len(BYTES) :]}
        self._rust = models.Unigram([(byte, _BYTE_SCORE) for byte in BYTES] + list(self._scores.items()), None, False)

    def split(self, word: str) -> list[int]:
        """Split a word into the numbers of its pieces."""
        return [token.id for token in self._rust.tokenize(word)]

    def as_dict(self) -> dict[str, object]:
        """What the file holds besides the alphabet: the scores of its characters and of the pieces."""
        return {"scores": [[piece, score] for piece, score in self._scores.items()]}


def train_unigram(words: Mapping[str, int], base_symbols: Sequence[str], room: int) -> Unigram:
    """Learn at most `room` pieces from word counts; deterministic.

    Four times as many candidates are pruned in rounds: count how often each piece is used when every word is split its
    best way, take the counts as probabilities, and drop the pieces whose loss costs least.

    Source:
        Kudo 2018, §3.2. Differs from source: the candidates are the pieces of byte-pair encoding instead of frequent
        substrings, and the expected counts are those of the best split alone (Viterbi training): integers, whose sum
        does not depend on the order of addition.
    """
    merges = learn_merges(words, base_symbols, _SEED_FACTOR * room)
    characters = base_symbols[len(BYTES) :]
    candidates = dict.fromkeys((*characters, *(left + right for left, right in merges)))
    scores = _scores_of(_count_everywhere(words, candidates), characters)
    while True:
        counts = _count_used(Unigram(base_symbols, scores), words)
        scores = _scores_of(counts, characters)
        extra = len(scores) - len(characters)
        if extra <= room:
            return Unigram(base_symbols, scores)
        kept = max(room, int(extra * _SHRINKING_FACTOR))
        costs = {piece: counts[piece] * _cost_of_losing(piece, scores) for piece in scores if len(piece) > 1}
        for piece in sorted(costs, key=lambda piece: (costs[piece], piece))[: extra - kept]:
            del scores[piece]


def _count_everywhere(words: Mapping[str, int], pieces: Collection[str]) -> dict[str, int]:
    """Count each candidate wherever it occurs in a word, including overlaps."""
    longest = max(map(len, pieces))
    counts = dict.fromkeys(pieces, 0)
    for word, count in words.items():
        for start in range(len(word)):
            for end in range(start + 1, min(len(word), start + longest) + 1):
                part = word[start:end]
                if part in counts:
                    counts[part] += count
    return counts


def _count_used(model: Unigram, words: Mapping[str, int]) -> dict[str, int]:
    """Count the uses of each piece except bytes, which no other piece can replace."""
    counts = [0] * len(model.pieces)
    for word, count in words.items():
        for number in model.split(word):
            counts[number] += count
    return dict(zip(model.pieces[len(BYTES) :], counts[len(BYTES) :], strict=True))


def _scores_of(counts: Mapping[str, int], characters: Sequence[str]) -> dict[str, float]:
    """The log-probabilities of all characters, and of the longer pieces that are used."""
    used = {piece: float(count) for piece, count in counts.items() if count}
    used |= {character: max(counts[character], _UNSEEN) for character in characters}
    total = math.log(sum(used.values()))
    return {piece: round(math.log(count) - total, _DIGITS) for piece, count in used.items()}


def _cost_of_losing(piece: str, scores: Mapping[str, float]) -> float:
    """The log-probability that one use of `piece` loses when it is split the next best way."""
    best = [0.0] + [-math.inf] * len(piece)
    for end in range(1, len(piece) + 1):
        for start in range(end):
            score = scores.get(piece[start:end])
            if score is not None and end - start < len(piece):
                best[end] = max(best[end], best[start] + score)
    return scores[piece] - best[-1]

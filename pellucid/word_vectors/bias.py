"""Bias of word vectors: two tests of association between groups of words, WEAT and RIPA.

WEAT compares two groups of target words x and y by how much closer they are to the attribute words a than to b:

    s(w)         mean over a of cos(w, a) − mean over b of cos(w, b)
    effect size  (mean of s over x − mean of s over y) / standard deviation of s over x and y together
    p            share of the splits of x and y into groups of the same sizes that differ at least as much, one-sided

RIPA measures each word along a relation, given by pairs such as (man, woman):

    relation     the first principal component b of the pairs' differences, a unit vector towards the first words
    score        ⟨w, b⟩, with the word's vector not normalized: it grows with the vector's norm

Source:
    Caliskan, Bryson & Narayanan 2017, p. 2 of the supplement; Ethayarajh, Duvenaud & Hirst 2019, def. 2 and 3.
Differs from source:
    p includes splits that differ equally (the source: only more), so that it is never 0, and uses means where the
    source uses sums, which is the same for groups of equal size; the standard deviation divides by n − 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy

from pellucid.errors import UserError
from pellucid.randomness import generator
from pellucid.word_vectors.keyed_vectors import KeyedVectors
from pellucid.word_vectors.neighbours import Floats, Neighbour

__all__ = ["RipaScores", "WeatResult", "ripa", "weat"]

_BATCH = 10_000
_MAX_SPLITS = 1_000_000


@dataclass(frozen=True)
class WeatResult:
    """The result of WEAT.

    Attributes:
        effect_size: −2 to 2; positive if x is associated with a and y with b.
        p_value: one-sided, for x being closer to a than y is.
        splits: number of splits in the permutation test.
        exact: whether these are all possible splits; otherwise they were sampled, and p is (hits + 1) / (splits + 1).
        scores: s(w) of each word, x first.
        skipped: words outside the vocabulary; empty unless `skip_unknown`.
    """

    effect_size: float
    p_value: float
    splits: int
    exact: bool
    scores: tuple[Neighbour, ...]
    skipped: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Convert to JSON types."""
        return {**vars(self), "scores": dict(self.scores), "skipped": list(self.skipped)}


@dataclass(frozen=True, eq=False)
class RipaScores:
    """The result of RIPA.

    Attributes:
        scores: words with ⟨w, b⟩, highest first.
        relation: b, float64 [d], a unit vector.
        explained: the share of the pairs' squared differences along b, 0 to 1; 1 for a single pair.
    """

    scores: tuple[Neighbour, ...]
    relation: Floats
    explained: float

    def as_dict(self) -> dict[str, Any]:
        """Convert to JSON types."""
        return {"scores": dict(self.scores), "explained": self.explained}


def weat(
    vectors: KeyedVectors,
    x: Sequence[str],
    y: Sequence[str],
    a: Sequence[str],
    b: Sequence[str],
    *,
    permutations: int = 100_000,
    seed: int = 1,
    skip_unknown: bool = False,
) -> WeatResult:
    """Test whether the words x are closer to a than to b, compared with the words y.

    Args:
        permutations: number of sampled splits; if there are no more possible splits than this, all are used.
        skip_unknown: ignore words outside the vocabulary and list them in the result.

    Raises:
        UnknownWordError: for a word outside the vocabulary, unless `skip_unknown`.
        UserError: for an empty group, fewer than two words in x or y, a word in both x and y, or equal scores for all
            words of x and y.
    """
    if permutations < 1:
        raise UserError(
            f"expected at least one permutation, got {permutations}",
            where="permutations",
            hint="Pass a number such as 100,000.",
        )
    groups: dict[str, list[str]] = {}
    for name, words in (("x", x), ("y", y), ("a", a), ("b", b)):
        if isinstance(words, str):
            raise UserError(
                f"expected a list of words for the group {name}, got one string", where=name, hint="Write [word, …]."
            )
        groups[name] = list(dict.fromkeys(words))
    skipped = tuple(dict.fromkeys(word for words in groups.values() for word in words if word not in vectors))
    if skip_unknown:
        groups = {name: [word for word in words if word not in skipped] for name, words in groups.items()}
    for name, known in groups.items():
        least = 2 if name in "xy" else 1
        if len(known) < least:
            raise UserError(
                f"the group {name} has {len(known)} known words, expected at least {least}",
                where=name,
                hint="Add words that are in the vocabulary.",
            )
    if both := [word for word in groups["x"] if word in groups["y"]]:
        raise UserError(f"{both[0]!r} is in both x and y", where="y", hint="Remove it from one group.")
    units = {name: _units(vectors, words) for name, words in groups.items()}
    targets = numpy.concatenate([units["x"], units["y"]])
    s = (targets @ units["a"].T).mean(axis=1) - (targets @ units["b"].T).mean(axis=1)
    spread = float(s.std(ddof=1))
    if not spread > 1e-12:
        raise UserError(
            "all words of x and y have equal scores: there is nothing to compare",
            where="x, y",
            hint="Choose other words.",
        )
    n = len(groups["x"])
    difference = float(s[:n].mean() - s[n:].mean())
    p_value, splits, exact = _p_value(s, n, permutations, seed)
    names = [*groups["x"], *groups["y"]]
    scores = tuple(Neighbour(word, score) for word, score in zip(names, s.tolist(), strict=True))
    return WeatResult(difference / spread, p_value, splits, exact, scores, skipped)


def ripa(vectors: KeyedVectors, words: Sequence[str], pairs: Sequence[tuple[str, str]]) -> RipaScores:
    """Score words along the relation that the pairs have in common; positive is towards the pairs' first words.

    Raises:
        UnknownWordError: for a word outside the vocabulary.
        UserError: without pairs, or if the words of each pair have equal vectors.
    """
    given: Sequence[Any] = pairs
    hint = 'Pass a list: [("man", "woman"), …].'
    if not len(given):
        raise UserError("expected pairs of words for the relation, got none", where="pairs", hint=hint)
    for pair in given:
        if isinstance(pair, str) or len(pair) != 2:
            raise UserError(f"expected pairs of words, got {pair!r}", where="pairs", hint=hint)
    words = [words] if isinstance(words, str) else words
    firsts, seconds = ([pair[side] for pair in pairs] for side in (0, 1))
    matrix = vectors.input_vectors
    differences = matrix[vectors.rows(firsts)].astype(numpy.float64) - matrix[vectors.rows(seconds)]
    _, sizes, components = numpy.linalg.svd(differences, full_matrices=False)
    if not sizes[0] > 0:
        raise UserError(
            "the words of each pair have equal vectors: there is no relation between them",
            where="pairs",
            hint="Choose pairs of words with different vectors.",
        )
    relation = components[0]
    # The sign of a principal component is arbitrary: make it agree with the pairs.
    relation = relation * (1.0 if float((differences @ relation).sum()) >= 0 else -1.0)
    found = matrix[vectors.rows(words)].astype(numpy.float64) @ relation
    order = numpy.argsort(-found, kind="stable")
    explained = float(sizes[0] ** 2 / (sizes**2).sum())
    return RipaScores(tuple(Neighbour(words[i], float(found[i])) for i in order), relation, explained)


def _units(vectors: KeyedVectors, words: Sequence[str]) -> Floats:
    vectors.rows(words)  # names all unknown words in one error
    return numpy.stack([vectors.unit_vector(word) for word in words])


def _p_value(s: Floats, n: int, permutations: int, seed: int) -> tuple[float, int, bool]:
    """Compute p, the number of splits used, and whether these are all possible ones.

    Comparing the sums of the first group is enough: they determine the means of both groups.
    """
    if permutations > _MAX_SPLITS:
        raise UserError(
            f"expected at most {_MAX_SPLITS:,} permutations, got {permutations:,}",
            where="permutations",
            hint="Pass a number such as 100,000.",
        )
    at_least = s[:n].sum() - 1e-9 * numpy.abs(s).sum()  # sums of the same numbers in another order differ by rounding
    splits = math.comb(len(s), n)
    if splits <= permutations:
        chosen = numpy.fromiter((i for split in combinations(range(len(s)), n) for i in split), numpy.int64)
        sums = s[chosen.reshape(splits, n)].sum(axis=1)
        return float((sums >= at_least).mean()), splits, True
    draw, hits = generator(seed, "weat"), 0
    for start in range(0, permutations, _BATCH):
        rows = min(_BATCH, permutations - start)
        shuffled = draw.permuted(numpy.broadcast_to(s, (rows, len(s))), axis=1)
        hits += int((shuffled[:, :n].sum(axis=1) >= at_least).sum())
    return (hits + 1) / (permutations + 1), permutations, False

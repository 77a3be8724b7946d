"""Do these words lean towards those? Two tests of association between groups of words.

WEAT compares two groups of target words x and y by how much nearer they lie to the attribute words a than to b:

    s(w)         mean over a of cos(w, a) − mean over b of cos(w, b)
    effect size  (mean of s over x − mean of s over y) / standard deviation of s over x and y together
    p            how often a random split of x and y into groups of the same sizes differs at least as much, one-sided

RIPA measures each word along a relation, given by pairs such as (man, woman):

    relation     the first principal component b of the pairs' differences, of length 1, pointing to the first words
    score        ⟨w, b⟩, by the word's vector as it is, not scaled to length 1: it grows with the vector's length

Source:
    Caliskan, Bryson & Narayanan 2017, p. 2 of the supplement; Ethayarajh, Duvenaud & Hirst 2019, def. 2 and 3.
Differs from source:
    p counts splits that differ as much, too (the source: more), so that it is never 0, and takes means where the source
    takes sums, which is the same for groups of equal size; the standard deviation divides by n − 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from pellucid.errors import UserError
from pellucid.randomness import generator
from pellucid.word_vectors.neighbours import Neighbour

if TYPE_CHECKING:
    from pellucid.word_vectors.vectors import WordVectors

__all__ = ["RipaScores", "WeatResult", "ripa", "weat"]

Floats = NDArray[numpy.float64]

_DRAWN_AT_ONCE = 10_000
_MOST_SPLITS = 1_000_000


@dataclass(frozen=True)
class WeatResult:
    """The outcome of WEAT.

    Attributes:
        effect_size: −2 to 2; positive where x leans to a and y to b.
        p_value: one-sided, for x leaning more to a than y does.
        splits: how many splits of the words p was counted over.
        exact: whether these were all there are; else they were drawn by the seed, and p is (hits + 1) / (splits + 1).
        scores: s(w) of each word, x first.
        skipped: words that are not in the vocabulary; empty unless they may be skipped.
    """

    effect_size: float
    p_value: float
    splits: int
    exact: bool
    scores: tuple[Neighbour, ...]
    skipped: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return it for `--json`."""
        return {**vars(self), "scores": dict(self.scores), "skipped": list(self.skipped)}


@dataclass(frozen=True, eq=False)
class RipaScores:
    """The outcome of RIPA.

    Attributes:
        scores: words with ⟨w, b⟩, highest first.
        relation: b, float64 [d], of length 1.
        explained: the share of the pairs' differences that lies along b, 0 to 1; 1 for a single pair.
    """

    scores: tuple[Neighbour, ...]
    relation: Floats
    explained: float

    def as_dict(self) -> dict[str, Any]:
        """Return it for `--json`."""
        return {"scores": dict(self.scores), "explained": self.explained}


def weat(
    vectors: WordVectors,
    x: Sequence[str],
    y: Sequence[str],
    a: Sequence[str],
    b: Sequence[str],
    *,
    permutations: int = 100_000,
    seed: int = 1,
    skip_unknown: bool = False,
) -> WeatResult:
    """Test whether the words x lie nearer to a than to b, compared with the words y.

    Args:
        permutations: if there are no more splits than this, p counts all of them, else it draws so many.
        skip_unknown: go on without words that are not in the vocabulary, and name them in the result.

    Raises:
        UnknownWordError: for a word outside the vocabulary, unless they may be skipped.
        UserError: for an empty group, fewer than two words in x or y, a word in both x and y, or words x and y that
            all lie alike.
    """
    if permutations < 1:
        raise UserError(f"expected a number of permutations from 1 on, got {permutations}")
    for name, words in (("x", x), ("y", y), ("a", a), ("b", b)):
        if isinstance(words, str):
            raise UserError(f"expected a list of words for the group {name}, got one string", hint="Write [word, …].")
    groups = {name: list(dict.fromkeys(words)) for name, words in (("x", x), ("y", y), ("a", a), ("b", b))}
    skipped = tuple(dict.fromkeys(word for words in groups.values() for word in words if word not in vectors))
    if skip_unknown:
        groups = {name: [word for word in words if word not in skipped] for name, words in groups.items()}
    for name, words in groups.items():
        least = 2 if name in "xy" else 1
        if len(words) < least:
            raise UserError(f"the group {name} has {len(words)} known words, expected at least {least}")
    if both := [word for word in groups["x"] if word in groups["y"]]:
        raise UserError(f"{both[0]!r} stands in both x and y", hint="Leave it out of one.")
    units = {name: _units(vectors, words) for name, words in groups.items()}
    targets = numpy.concatenate([units["x"], units["y"]])
    s = (targets @ units["a"].T).mean(axis=1) - (targets @ units["b"].T).mean(axis=1)
    spread = float(s.std(ddof=1))
    if not spread > 1e-12:
        raise UserError("all words of x and y lie alike between a and b: there is nothing to compare")
    n = len(groups["x"])
    difference = float(s[:n].mean() - s[n:].mean())
    p_value, splits, exact = _p_value(s, n, permutations, seed)
    names = [*groups["x"], *groups["y"]]
    scores = tuple(Neighbour(word, score) for word, score in zip(names, s.tolist(), strict=True))
    return WeatResult(difference / spread, p_value, splits, exact, scores, skipped)


def ripa(vectors: WordVectors, words: Sequence[str], pairs: Sequence[tuple[str, str]]) -> RipaScores:
    """Score words along the relation that the pairs have in common; positive leans to the pairs' first words.

    Raises:
        UnknownWordError: for a word outside the vocabulary.
        UserError: without pairs, or with pairs of equal vectors, which have no relation.
    """
    if not len(pairs):
        raise UserError("expected pairs of words for the relation, got none", hint='Give some as ("man", "woman").')
    given: Sequence[Any] = pairs
    for pair in given:
        if isinstance(pair, str) or len(pair) != 2:
            raise UserError(f"expected pairs of words, got {pair!r}", hint='Give a list: [("man", "woman"), …].')
    words = [words] if isinstance(words, str) else words
    firsts, seconds = ([pair[side] for pair in pairs] for side in (0, 1))
    matrix = vectors.input_vectors
    differences = matrix[vectors.rows(firsts)].astype(numpy.float64) - matrix[vectors.rows(seconds)]
    _, sizes, components = numpy.linalg.svd(differences, full_matrices=False)
    if not sizes[0] > 0:
        raise UserError("the words of the pairs have equal vectors: there is no relation between them")
    relation = components[0]
    # A principal component has no sign of its own: let most of the pairs agree with it.
    relation = relation * (1.0 if float((differences @ relation).sum()) >= 0 else -1.0)
    found = matrix[vectors.rows(words)].astype(numpy.float64) @ relation
    order = numpy.argsort(-found, kind="stable")
    explained = float(sizes[0] ** 2 / (sizes**2).sum())
    return RipaScores(tuple(Neighbour(words[i], float(found[i])) for i in order), relation, explained)


def _units(vectors: WordVectors, words: Sequence[str]) -> Floats:
    vectors.rows(words)  # all that are unknown in one message
    return numpy.stack([vectors.unit_vector(word) for word in words])


def _p_value(s: Floats, n: int, permutations: int, seed: int) -> tuple[float, int, bool]:
    """Return p, how many splits it was counted over, and whether these were all.

    The means of a split follow from the sum of its first group alone, so that sums are compared.
    """
    if permutations > _MOST_SPLITS:
        raise UserError(f"expected at most {_MOST_SPLITS:,} splits, got {permutations:,}", hint="100,000 are plenty.")
    at_least = s[:n].sum() - 1e-9 * numpy.abs(s).sum()  # equal sums in another order may differ by a rounding
    splits = math.comb(len(s), n)
    if splits <= permutations:
        chosen = numpy.fromiter((i for split in combinations(range(len(s)), n) for i in split), numpy.int64)
        sums = s[chosen.reshape(splits, n)].sum(axis=1)
        return float((sums >= at_least).mean()), splits, True
    draw, hits = generator(seed, "weat"), 0
    for start in range(0, permutations, _DRAWN_AT_ONCE):
        rows = min(_DRAWN_AT_ONCE, permutations - start)
        shuffled = draw.permuted(numpy.broadcast_to(s, (rows, len(s))), axis=1)
        hits += int((shuffled[:, :n].sum(axis=1) >= at_least).sum())
    return (hits + 1) / (permutations + 1), permutations, False

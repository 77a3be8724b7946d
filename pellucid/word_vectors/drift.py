"""How far words have moved between two trainings, as between two decades of a newspaper.

Two trainings of the same text give spaces turned against each other, and nothing but a turn keeps all cosines. So the
older space is turned onto the newer one where their shared words allow, and what is left is change:

    R          the orthogonal matrix that makes Σ ‖R x_w − y_w‖² over the anchors least (orthogonal Procrustes);
               x_w and y_w are a word's vectors in both spaces, of length 1
    change_w   1 − cos(R x_w, y_w): 0 unmoved, 1 unrelated to where it was

**The permutation null.** A rare word's vector is noisy and moves without any change of meaning, so each word is
compared with its peers, words about as frequent. Under the null a word's residual y_w − R x_w is noise like its
peers': any of theirs could have been its own. A random permutation of the residuals among m peers gives a word each of
the m with equal probability; so its null distribution is the m changes 1 − cos(R x_w, R x_w + e_v), which are all
computed, and

    p_w = share of the m residuals, its own included, that would have moved it at least as far

is exact, without drawing. It tells words that moved more than words like them. It does not tell whether the whole space
moved, nor what two trainings of one text would differ by: that takes trainings again (`stability`).

Source:
    Schönemann 1966 for the rotation; Hamilton, Leskovec & Jurafsky 2016, sec. 3.2, for its use on words;
    Freedman & Lane 1983 for permuting residuals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy
from numpy.typing import NDArray

from pellucid.errors import UserError

if TYPE_CHECKING:
    from pellucid.word_vectors.vectors import WordVectors

__all__ = ["Drift", "WordDrift", "align"]

Floats = NDArray[numpy.float64]


class WordDrift(NamedTuple):
    """A word, how far it has moved, and how probably a word like it would have by noise."""

    word: str
    change: float
    p_value: float


@dataclass(frozen=True, eq=False, repr=False)
class Drift:
    """What two spaces share, and what moved between them.

    Attributes:
        rotation: float64 [d d], orthogonal; `before[word] @ rotation` lies in the space of the later vectors.
        words: the shared words, in the order of the earlier vectors' rows.
        change: float64 [words], 0 to 2.
        p_values: float64 [words], of the permutation null.
        peers: how many words share a null, the last group at least as many.
        anchors: how many words the rotation was fitted on.
    """

    rotation: Floats
    words: tuple[str, ...]
    change: Floats
    p_values: Floats
    peers: int
    anchors: int

    def __repr__(self) -> str:
        return f"<alignment over {len(self.words):,} shared words, mean change {self.change.mean():.3f}>"

    def moved(self, word: str) -> WordDrift:
        """Return how far a word has moved.

        Raises:
            UserError: if the word is not shared.
        """
        if word not in self.words:
            raise UserError(f"{word!r} is not among the {len(self.words):,} words that both have")
        place = self.words.index(word)
        return WordDrift(word, float(self.change[place]), float(self.p_values[place]))

    def most_drifted(self, n: int = 10) -> list[WordDrift]:
        """Return the `n` words that moved least like their peers: by p, then by change."""
        if n < 0:
            raise UserError(f"expected a number of words, got {n}")
        order = numpy.lexsort((-self.change, self.p_values))[:n]
        return [WordDrift(self.words[i], float(self.change[i]), float(self.p_values[i])) for i in order]

    def turn(self, vectors: WordVectors) -> WordVectors:
        """Return the earlier vectors (any of that space) turned into the later space; lengths and cosines stay."""
        from pellucid.word_vectors.vectors import WordVectors

        if vectors.dim != len(self.rotation):
            raise UserError(f"expected vectors of {len(self.rotation)} numbers, got {vectors.dim}")
        narrow = self.rotation.astype(numpy.float32)
        return WordVectors(
            vectors.words,
            vectors.input_vectors @ narrow,
            None if vectors.output_vectors is None else vectors.output_vectors @ narrow,
            vectors.counts,
            vectors.metadata,
        )

    def as_dict(self, n: int) -> dict[str, Any]:
        """Return the `n` most moved words and the figures of the whole for `--json`."""
        return {
            "shared": len(self.words),
            "anchors": self.anchors,
            "peers": self.peers,
            "mean_change": float(self.change.mean()),
            "moved": [moved._asdict() for moved in self.most_drifted(n)],
        }


def align(before: WordVectors, after: WordVectors, *, anchors: Sequence[str] | None = None, peers: int = 1000) -> Drift:
    """Turn the space of `before` onto that of `after` and measure how far each shared word has moved.

    Words without a direction (zeros in either space) are left out.

    Args:
        anchors: words to fit the rotation on, as many as a vector has numbers at least; all shared words unless given.
        peers: how many words, next to each other by frequency (the lesser of both counts; by row without counts),
            share a null.

    Raises:
        UserError: if the spaces differ in d, or share fewer words (or are given fewer anchors) than d.
    """
    if before.dim != after.dim:
        raise UserError(f"the vectors have {before.dim} and {after.dim} numbers: only spaces of equal d can be aligned")
    if peers < 2:
        raise UserError(f"expected at least 2 peers, got {peers}")
    words, rows = _shared(before, after)
    x, y = _units(before, rows[0]), _units(after, rows[1])
    chosen = _anchors(anchors, words)
    if len(chosen) < before.dim:
        raise UserError(
            f"{len(chosen):,} words to align on are too few for vectors of {before.dim} numbers",
            hint="With fewer words than numbers a rotation fits by chance alone; give more text, or more anchors.",
        )
    left, _, right = numpy.linalg.svd(x[chosen].T @ y[chosen])
    rotation: Floats = left @ right
    turned = x @ rotation
    change = numpy.clip(1 - (turned * y).sum(axis=1), 0, 2)  # a rounding may lead out
    p_values = numpy.empty(len(words))
    for group in _groups(_order_of_frequency(before, after, rows), peers):
        p_values[group] = _p_values(turned[group], y[group] - turned[group])
    return Drift(rotation, words, change, p_values, min(peers, len(words)), len(chosen))


def _shared(before: WordVectors, after: WordVectors) -> tuple[tuple[str, ...], tuple[list[int], list[int]]]:
    words, rows, other_rows = [], [], []
    for row, word in enumerate(before.words):
        other = after.vocabulary.find(word)
        if other is not None and not before.search_index.zero[row] and not after.search_index.zero[other]:
            words.append(word)
            rows.append(row)
            other_rows.append(other)
    return tuple(words), (rows, other_rows)


def _units(vectors: WordVectors, rows: list[int]) -> Floats:
    wide = vectors.input_vectors[rows].astype(numpy.float64)
    unit: Floats = wide / numpy.sqrt((wide * wide).sum(axis=1, keepdims=True))
    return unit


def _anchors(anchors: Sequence[str] | None, words: tuple[str, ...]) -> NDArray[numpy.int64]:
    if anchors is None:
        return numpy.arange(len(words))
    place = {word: i for i, word in enumerate(words)}
    missing = [word for word in dict.fromkeys(anchors) if word not in place]
    if missing:
        raise UserError(
            f"{len(missing):,} anchors are not among the {len(words):,} words that both have: "
            f"{', '.join(map(repr, missing[:5]))}",
            hint="Give anchors that stand in both texts.",
        )
    return numpy.array([place[word] for word in dict.fromkeys(anchors)], numpy.int64)


def _order_of_frequency(
    before: WordVectors, after: WordVectors, rows: tuple[list[int], list[int]]
) -> NDArray[numpy.int64]:
    if before.counts is None or after.counts is None:
        later = numpy.maximum(numpy.array(rows[0]), numpy.array(rows[1]))
        return numpy.argsort(later, kind="stable")
    return numpy.argsort(-numpy.minimum(before.counts[rows[0]], after.counts[rows[1]]), kind="stable")


def _groups(order: NDArray[numpy.int64], peers: int) -> list[NDArray[numpy.int64]]:
    """Cut words into groups of `peers`; what is left over joins the last one."""
    count = max(len(order) // peers, 1)
    ends = [peers * number for number in range(1, count)]
    return numpy.split(order, ends)


def _p_values(turned: Floats, residuals: Floats) -> Floats:
    """Return each word's share of residuals that would have moved it at least as far as its own, [words].

    The cosine of u and u + e, with ‖u‖ = 1, is (1 + u·e) / ‖u + e‖, and ‖u + e‖² = 1 + 2 u·e + ‖e‖².
    """
    along = turned @ residuals.T
    lengths = numpy.sqrt(numpy.maximum(1 + 2 * along + (residuals * residuals).sum(axis=1), 1e-300))
    cosines = (1 + along) / lengths
    own = numpy.diagonal(cosines)[:, None]
    share: Floats = (cosines <= own + 1e-12).mean(axis=1)
    return share

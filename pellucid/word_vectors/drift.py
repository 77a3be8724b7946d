"""Semantic drift: how far words have moved between two models, as between two decades of a newspaper.

Two training runs on the same text give spaces that are rotated against each other, and only a rotation preserves all
cosines. So the earlier space is rotated onto the later one as well as their shared words allow, and what remains is
drift:

    R          the orthogonal matrix that minimizes Σ ‖R x_w − y_w‖² over the anchors (orthogonal Procrustes);
               x_w and y_w are the unit vectors of a word in both spaces
    change_w   1 − cos(R x_w, y_w): 0 unmoved, 1 unrelated to its earlier position

**The permutation null.** A rare word's vector is noisy and moves without any change of meaning, so each word is
compared with its peers, words of similar frequency. Under the null hypothesis a word's residual y_w − R x_w is noise
like its peers': any of theirs could have been its own. A random permutation of the residuals among m peers gives each
word any of the m with equal probability; so its null distribution is the m changes 1 − cos(R x_w, R x_w + e_v), which
are all computed, and

    p_w = share of the m residuals, its own included, that would have moved it at least as far

is exact, without sampling. It identifies words that moved more than similar words. It does not say whether the whole
space moved, nor how much two runs on one text differ: that takes repeated runs (`stability`).

Source:
    Schönemann 1966 for the rotation; Hamilton, Leskovec & Jurafsky 2016, sec. 3.2, for its use on words;
    Freedman & Lane 1983 for permuting residuals.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from pellucid.errors import UserError
from pellucid.word_vectors.keyed_vectors import KeyedVectors

__all__ = ["Drift", "WordDrift", "measure_drift"]

Floats = NDArray[numpy.float64]


class WordDrift(NamedTuple):
    """A word's change, and the probability that noise alone would have moved it as far."""

    word: str
    change: float
    p_value: float


@dataclass(frozen=True, eq=False, repr=False)
class Drift:
    """The alignment of two spaces and the drift of their shared words.

    Attributes:
        rotation: float64 [d d], orthogonal; `before[word] @ rotation` lies in the space of the later vectors.
        words: the shared words, in row order of the earlier vectors.
        change: float64 [words], 0 to 2.
        p_values: float64 [words], from the permutation null.
        peers: number of words that share a null distribution; the last group may be larger.
        anchors: number of words the rotation was fitted on.
    """

    rotation: Floats
    words: tuple[str, ...]
    change: Floats
    p_values: Floats
    peers: int
    anchors: int

    def __repr__(self) -> str:
        return f"<drift of {len(self.words):,} shared words, mean change {self.change.mean():.3f}>"

    def of(self, word: str) -> WordDrift:
        """Look up the drift of a word.

        Raises:
            UserError: if the word is not shared.
        """
        if word not in self.words:
            raise UserError(
                f"{word!r} is not among the {len(self.words):,} shared words",
                where=word,
                hint="Query a word that both vocabularies have.",
            )
        index = self.words.index(word)
        return WordDrift(word, float(self.change[index]), float(self.p_values[index]))

    def most_drifted(self, n: int = 10) -> list[WordDrift]:
        """List the `n` words that moved most compared with their peers: by p, then by change."""
        if n < 0:
            raise UserError(f"expected a number of words, got {n}", where="n", hint="Pass 0 or more.")
        order = numpy.lexsort((-self.change, self.p_values))[:n]
        return [WordDrift(self.words[i], float(self.change[i]), float(self.p_values[i])) for i in order]

    def rotate(self, vectors: KeyedVectors) -> KeyedVectors:
        """Rotate the earlier vectors, or others of that space, into the later space, preserving norms and cosines."""
        if vectors.dim != len(self.rotation):
            raise UserError(
                f"expected vectors of dimension {len(self.rotation)}, got {vectors.dim}",
                where="vectors",
                hint="Rotate vectors of the earlier space.",
            )
        rotation32 = self.rotation.astype(numpy.float32)
        return KeyedVectors(
            vectors.words,
            vectors.input_vectors @ rotation32,
            None if vectors.output_vectors is None else vectors.output_vectors @ rotation32,
            vectors.counts,
            vectors.metadata,
        )

    def as_dict(self, n: int) -> dict[str, Any]:
        """Convert the summary and the `n` most drifted words to JSON types."""
        return {
            "shared": len(self.words),
            "anchors": self.anchors,
            "peers": self.peers,
            "mean_change": float(self.change.mean()),
            "words": [word._asdict() for word in self.most_drifted(n)],
        }


def measure_drift(
    before: KeyedVectors, after: KeyedVectors, *, anchors: Sequence[str] | None = None, peers: int = 1000
) -> Drift:
    """Rotate the space of `before` onto that of `after` and measure how far each shared word has moved.

    Words with a zero vector in either space are left out.

    Args:
        anchors: words to fit the rotation on, at least as many as the dimension; all shared words by default.
        peers: number of words, adjacent in frequency (the lower of both counts; in row order without counts), that
            share a null distribution.

    Raises:
        UserError: if the spaces differ in dimension, or there are fewer shared words (or anchors) than dimensions.
    """
    if before.dim != after.dim:
        raise UserError(
            f"expected vectors of equal dimension, got {before.dim} and {after.dim}",
            where="before, after",
            hint="Train both with the same `dim`.",
        )
    if peers < 2:
        raise UserError(
            f"expected at least 2 peers, got {peers}",
            where="peers",
            hint="Pass a number from 2 on; the default is 1,000.",
        )
    words, rows = _shared(before, after)
    x, y = before.unit_rows(rows[0]), after.unit_rows(rows[1])
    chosen = _anchors(anchors, words)
    if len(chosen) < before.dim:
        raise UserError(
            f"too few anchors: {len(chosen):,} words for vectors of dimension {before.dim}",
            where="anchors",
            hint="With fewer words than dimensions a rotation fits by chance alone: use more text, or more anchors.",
        )
    left, _, right = numpy.linalg.svd(x[chosen].T @ y[chosen])
    rotation: Floats = left @ right
    rotated = x @ rotation
    change = numpy.clip(1 - (rotated * y).sum(axis=1), 0, 2)  # rounding may leave the range
    p_values = numpy.empty(len(words))
    ends = peers * numpy.arange(1, len(words) // peers)  # a remainder joins the last group
    for group in numpy.split(_order_of_frequency(before, after, rows), ends):
        p_values[group] = _p_values(rotated[group], y[group] - rotated[group])
    return Drift(rotation, words, change, p_values, min(peers, len(words)), len(chosen))


def _shared(before: KeyedVectors, after: KeyedVectors) -> tuple[tuple[str, ...], tuple[list[int], list[int]]]:
    words, rows, other_rows = [], [], []
    for row, word in enumerate(before.words):
        other = after.vocabulary.find(word)
        if other is not None and not before.search_index.zero[row] and not after.search_index.zero[other]:
            words.append(word)
            rows.append(row)
            other_rows.append(other)
    return tuple(words), (rows, other_rows)


def _anchors(anchors: Sequence[str] | None, words: tuple[str, ...]) -> NDArray[numpy.int64]:
    if anchors is None:
        return numpy.arange(len(words))
    index = {word: i for i, word in enumerate(words)}
    missing = [word for word in dict.fromkeys(anchors) if word not in index]
    if missing:
        raise UserError(
            f"{len(missing):,} anchors are not among the {len(words):,} shared words: "
            f"{', '.join(map(repr, missing[:5]))}",
            where="anchors",
            hint="Choose anchors that occur in both texts.",
        )
    return numpy.array([index[word] for word in dict.fromkeys(anchors)], numpy.int64)


def _order_of_frequency(
    before: KeyedVectors, after: KeyedVectors, rows: tuple[list[int], list[int]]
) -> NDArray[numpy.int64]:
    if before.counts is None or after.counts is None:
        later = numpy.maximum(numpy.array(rows[0]), numpy.array(rows[1]))
        return numpy.argsort(later, kind="stable")
    return numpy.argsort(-numpy.minimum(before.counts[rows[0]], after.counts[rows[1]]), kind="stable")


def _p_values(rotated: Floats, residuals: Floats) -> Floats:
    """Compute for each word the share of residuals that would have moved it at least as far as its own, [words].

    The cosine of u and u + e, with ‖u‖ = 1, is (1 + u·e) / ‖u + e‖, and ‖u + e‖² = 1 + 2 u·e + ‖e‖².
    """
    along = rotated @ residuals.T
    lengths = numpy.sqrt(numpy.maximum(1 + 2 * along + (residuals * residuals).sum(axis=1), 1e-300))
    cosines = (1 + along) / lengths
    own = numpy.diagonal(cosines)[:, None]
    share: Floats = (cosines <= own + 1e-12).mean(axis=1)
    return share

"""Subsampling of frequent words: the probability with which each occurrence is kept."""

from typing import Literal

import numpy
from numpy.typing import ArrayLike, NDArray

__all__ = ["keep_probabilities", "keep_thresholds"]

_WHOLE = 2.0**32


def keep_probabilities(
    counts: ArrayLike, sample: float, formula: Literal["code", "paper"] = "code"
) -> NDArray[numpy.float64]:
    """Compute the probability with which each word's occurrences are kept.

    With f the word's share of all words: min(1, √(sample/f) + sample/f) as in word2vec.c ("code"), or
    min(1, √(sample/f)) as in the paper. With sample 0 all are kept.

    Source:
        Mikolov et al. 2013 (Distributed Representations), eq. 5, and word2vec.c.
    """
    share = numpy.asarray(counts, numpy.float64)
    if sample == 0:
        return numpy.ones(len(share))
    with numpy.errstate(divide="ignore"):
        ratio = sample / (share / share.sum())
    kept: NDArray[numpy.float64] = numpy.minimum(1.0, numpy.sqrt(ratio) + (ratio if formula == "code" else 0.0))
    return kept


def keep_thresholds(probabilities: NDArray[numpy.float64]) -> NDArray[numpy.uint32]:
    """Convert probabilities to units of 2⁻³²: a random uint32 not above the threshold keeps the word."""
    return numpy.minimum(numpy.floor(probabilities * _WHOLE), _WHOLE - 1).astype(numpy.uint32)

"""How often a word is looked at: very frequent ones are kept now and then only."""

from typing import Literal

import numpy
from numpy.typing import ArrayLike, NDArray

__all__ = ["keep_probabilities", "keep_thresholds"]

_WHOLE = 2.0**32


def keep_probabilities(
    counts: ArrayLike, sample: float, formula: Literal["code", "paper"] = "code"
) -> NDArray[numpy.float64]:
    """Return the probability of each word to be kept where it stands.

    With f the word's share of all words: min(1, √(sample/f) + sample/f), as the program word2vec has it ("code"), or
    min(1, √(sample/f)), as the paper has it. With sample 0, all are kept.

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
    """Return each probability in units of 2⁻³²: a random uint32 up to it keeps the word."""
    return numpy.minimum(numpy.floor(probabilities * _WHOLE), _WHOLE - 1).astype(numpy.uint32)

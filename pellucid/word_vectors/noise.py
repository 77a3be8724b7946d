"""Noise distribution of negatives, as a table that fits in the cache and is sampled in constant time.

A word of count c is sampled with probability proportional to c^exponent, in two steps: first a *group* of words
adjacent in frequency, by Vose's alias method; then one of its members, uniformly, which is accepted with probability
c^exponent / (the largest of the group), otherwise the sampling is repeated. So the table has one entry per group rather
than per word, and workers that sample in parallel can be given different members of each group, so that they sample
different words (`shards.py`).

Source:
    Mikolov et al. 2013 (Distributed Representations), sec. 2.2, for the exponent 3/4; Vose 1991.
"""

from typing import NamedTuple

import numpy
from numpy.typing import ArrayLike, NDArray

__all__ = ["NoiseTable", "build_noise_table"]

_WHOLE = 2.0**32


class NoiseTable(NamedTuple):
    """A table to sample words from; all probabilities are in units of 2⁻³².

    Attributes:
        entries: uint32 [groups 2], the threshold below which the group itself is chosen, and the alias that is chosen
            otherwise.
        accept: uint32 [groups · size], the acceptance threshold of each member; 0 for padding.
    """

    entries: NDArray[numpy.uint32]
    accept: NDArray[numpy.uint32]


def build_noise_table(counts: ArrayLike, exponent: float, size: int) -> NoiseTable:
    """Build the table for words with these counts, in groups of `size`.

    Args:
        counts: [vocab_size]; words with count 0 are never sampled.
        exponent: 0.75 in the paper; 1 samples words in proportion to their counts, 0 uniformly.
        size: number of words per group.
    """
    given = numpy.asarray(counts, numpy.float64)
    weights = numpy.where(given > 0, numpy.maximum(given, 1) ** exponent, 0)
    groups = -(-len(weights) // size)
    members = numpy.zeros((groups, size))
    members.reshape(-1)[: len(weights)] = weights
    largest = members.max(axis=1)
    threshold, alias = _alias(largest / largest.sum())
    accept = _units(members / numpy.maximum(largest, 1e-300)[:, None])
    entries = numpy.stack([threshold, alias.astype(numpy.uint32)], axis=1)
    return NoiseTable(numpy.ascontiguousarray(entries), accept.reshape(-1))


def _alias(probabilities: NDArray[numpy.float64]) -> tuple[NDArray[numpy.uint32], NDArray[numpy.int32]]:
    """Compute a threshold and an alias for each entry; sampled uniformly, they give the probabilities."""
    n = len(probabilities)
    scaled = (probabilities * n).tolist()
    threshold, alias = [1.0] * n, list(range(n))
    small = [i for i in range(n) if scaled[i] < 1]
    large = [i for i in range(n) if scaled[i] >= 1]
    while small and large:
        less, more = small.pop(), large[-1]
        threshold[less], alias[less] = scaled[less], more
        scaled[more] -= 1 - scaled[less]
        if scaled[more] < 1:
            small.append(large.pop())
    return _units(numpy.array(threshold)), numpy.array(alias, numpy.int32)


def _units(shares: NDArray[numpy.float64]) -> NDArray[numpy.uint32]:
    return numpy.minimum(numpy.round(shares * _WHOLE), _WHOLE - 1).astype(numpy.uint32)

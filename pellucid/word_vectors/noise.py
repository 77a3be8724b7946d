"""Which words are drawn as false targets, and how one is drawn in constant time from a table that stays in the cache.

A word of count c is drawn with a probability in proportion to c^exponent. Words are drawn in two steps: a *group* of
neighbours in the order of frequency, by Vose's alias method, and one of its members, all being alike, which is taken
with probability c^exponent / (the largest of the group), else the drawing starts anew. So the table has an entry a
group and not a word, and those who draw at the same time can be given different members of each group, which makes
them draw different words (`parts.py`).

Source:
    Mikolov et al. 2013 (Distributed Representations), sec. 2.2, for the exponent 3/4; Vose 1991.
"""

from typing import NamedTuple

import numpy
from numpy.typing import ArrayLike, NDArray

__all__ = ["NoiseTable", "build_noise_table"]

_WHOLE = 2.0**32


class NoiseTable(NamedTuple):
    """A table to draw words from; all probabilities in units of 2⁻³².

    Attributes:
        entries: uint32 [groups 2], the threshold below which the group itself is drawn, and its alias otherwise.
        accept: uint32 [groups · size], up to which a member is taken; 0 where there is no such word.
    """

    entries: NDArray[numpy.uint32]
    accept: NDArray[numpy.uint32]


def build_noise_table(counts: ArrayLike, exponent: float, size: int) -> NoiseTable:
    """Return the table for words of these counts, in groups of `size`.

    Args:
        counts: [vocab_size]; words of count 0 are not drawn.
        exponent: 0.75 in the paper; 1 draws words as often as they occur, 0 all alike.
        size: members of a group.
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
    """Return a threshold and an alias for each entry: drawn evenly, they give the probabilities."""
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

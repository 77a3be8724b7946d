"""A set of 64-bit hashes: eight bytes for each, and nothing else."""

import numpy
from numpy.typing import NDArray

__all__ = ["HashSet"]


class HashSet:
    """A set of 64-bit hashes that grows by blocks: sorted runs, each at least twice as long as the next.

    Takes 8 bytes for each distinct hash, and as much again briefly while runs are merged. With n texts, the chance that
    any two share a hash is about n² / 2⁶⁵: 3 in ten thousand for a hundred million.
    """

    def __init__(self) -> None:
        self._runs: list[NDArray[numpy.uint64]] = []

    def add(self, hashes: NDArray[numpy.uint64]) -> NDArray[numpy.bool_]:
        """Add hashes in order; True for each that occurred before, in this block or an earlier one."""
        order = numpy.argsort(hashes, kind="stable")
        ordered = hashes[order]
        before = numpy.zeros(len(ordered), dtype=bool)
        before[1:] = ordered[1:] == ordered[:-1]
        for run in self._runs:
            index = numpy.minimum(numpy.searchsorted(run, ordered), len(run) - 1)
            before |= run[index] == ordered
        self._merge(ordered[~before])
        occurred = numpy.empty(len(hashes), dtype=bool)
        occurred[order] = before
        return occurred

    def _merge(self, new: NDArray[numpy.uint64]) -> None:
        if not len(new):
            return
        self._runs.append(new)
        while len(self._runs) > 1 and len(self._runs[-2]) < 2 * len(self._runs[-1]):
            last = self._runs.pop()
            self._runs[-1] = numpy.concatenate([self._runs[-1], last])
            self._runs[-1].sort(kind="stable")

"""Find where one side of a text runs ahead of the other: the most likely path of offsets through all lines.

Line i of the source belongs to line i + d of the target, with an offset d that changes rarely. The evidence for two
lines belonging together is a log-likelihood ratio, in nats, against two random lines: their lengths (as in Gale &
Church 1993), shared numbers and names (anchors), and their final punctuation. The Viterbi algorithm finds the path with
the highest sum, where each change of d costs as much as chance could gain anywhere in a long text. How reliable each
kind of evidence is, is learned from each window of the text itself.

The text is processed in windows, so that memory does not grow with it; offsets may drift arbitrarily far.

Differs from source:
    Gale & Church align sentences with merges and splits within a paragraph; here lines are removed or inserted, over a
    text of any length, and whole spans of lines decide.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

__all__ = ["OffsetChange", "OffsetPath", "find_offset_path"]

REACH = 12  # maximum size of a single change of the offset, lines
WINDOW = 4096  # source lines processed at once
OVERLAP = 512  # lines of a window that are processed again in the next one, which has their context
COST = 10.0  # nats that a change must gain, beyond the logarithm of the number of possible changes
COST_IF_UNEQUAL = 0.0  # the same if the files differ in length, so that there must be a change
_TOLERANCE = 3.0  # nats within which positions of a change are considered equally likely
_SEARCH_RADIUS = 40  # lines around a change in which its position is searched
_MAX_EVIDENCE = 4.0  # nats that the length of one pair of lines may contribute, since some lines are odd

Scores = NDArray[numpy.float32]
_ANCHOR = re.compile(r"\d+|[A-Z][a-z]{2}")
_ENDS = (
    {mark: 1 for mark in ".。．…।"}
    | {mark: 2 for mark in "?？؟"}
    | {mark: 3 for mark in "!！"}
    | {mark: 4 for mark in ":："}
)
_ENDS |= {mark: 5 for mark in ",，、;；"}
_CLOSING = "\"'”’»」』）)]】》*_ \t\r"


class OffsetChange(NamedTuple):
    """A change of the offset; lines count from 0.

    Args:
        start: the most likely first source line with the new offset.
        certain_until: source lines before this one certainly have the old offset.
        certain_from: source lines from this one on certainly have the new offset.
        offset: the new offset; source line i belongs to target line i + offset.
    """

    start: int
    certain_until: int
    certain_from: int
    offset: int


class OffsetPath(NamedTuple):
    """How two sides correspond: the offset is 0 from the first line, until a change."""

    changes: tuple[OffsetChange, ...]
    source_lines: int
    target_lines: int


class _Features(NamedTuple):
    """Features of consecutive lines: log length, set of anchors as bits, kind of the final punctuation mark."""

    lengths: NDArray[numpy.float32]
    anchors: NDArray[numpy.uint64]
    ends: NDArray[numpy.int8]

    def part(self, start: int, stop: int) -> "_Features":
        return _Features(self.lengths[start:stop], self.anchors[start:stop], self.ends[start:stop])


class _Evidence(NamedTuple):
    """Statistics of lines that belong together; None where unknown.

    Args:
        deviation: standard deviation of the log length ratio.
        centre: its mean.
        same_anchor: share of pairs that share an anchor, among those where both lines have anchors.
        same_end: share of pairs that end in the same kind of mark.
    """

    deviation: float = 0.35
    centre: float | None = None
    same_anchor: float | None = None
    same_end: float | None = None


def find_offset_path(source: Iterator[str], target: Iterator[str], cost: float = COST) -> OffsetPath:
    """Find the most likely path of offsets through two sides.

    Args:
        cost: nats that a change of the offset must gain beyond the logarithm of the number of possible changes.
    """
    ours, theirs = _FeatureStream(source), _FeatureStream(target)
    changes: list[OffsetChange] = []
    offset, first = 0, 0
    while True:
        lines = ours.window(first, first + WINDOW)
        partners = theirs.window(first + offset - REACH, first + WINDOW + offset + REACH)
        if not len(lines.lengths):
            break
        last_window = ours.length is not None and first + len(lines.lengths) >= ours.length
        price = cost + float(numpy.log(2 * REACH * (first + len(lines.lengths))))
        scores = _score(lines, partners, _learn(lines, partners, price))
        path = _best_path(scores, price)
        done = len(path) if last_window else WINDOW - OVERLAP
        change_points = _change_points(path)
        for before, at, after in zip([0, *change_points], change_points, [*change_points[1:], len(path)], strict=False):
            if at < done:
                changes.append(_locate_change(scores, path, (before, at, after), first, offset))
        first, offset = first + done, offset + int(path[done - 1])
        if last_window:
            break
    return OffsetPath(tuple(changes), ours.count_rest(), theirs.count_rest())


class _FeatureStream:
    """Features of lines that are read once and dropped when no window needs them any more."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._start = 0
        self._kept = _features([])
        self.length: int | None = None  # known once the end is reached

    def window(self, start: int, stop: int) -> _Features:
        """The features of the lines from start to stop; missing lines have the length NaN."""
        self._read_to(stop)
        drop = min(max(start - self._start, 0), len(self._kept.lengths))
        self._kept, self._start = self._kept.part(drop, len(self._kept.lengths)), self._start + drop
        part = self._kept.part(max(start - self._start, 0), max(stop - self._start, 0))
        missing = max(min(self._start, stop) - start, 0)
        return _Features(
            numpy.concatenate([numpy.full(missing, numpy.nan, numpy.float32), part.lengths]),
            numpy.concatenate([numpy.zeros(missing, numpy.uint64), part.anchors]),
            numpy.concatenate([numpy.zeros(missing, numpy.int8), part.ends]),
        )

    def count_rest(self) -> int:
        """Read to the end, and count all lines."""
        known = self._start + len(self._kept.lengths)
        return self.length if self.length is not None else known + sum(1 for _ in self._lines)

    def _read_to(self, stop: int) -> None:
        have = self._start + len(self._kept.lengths)
        if stop <= have or self.length is not None:
            return
        new = _features(list(islice(self._lines, stop - have)))
        if len(new.lengths) < stop - have:
            self.length = have + len(new.lengths)
        joined = (numpy.concatenate([old, add]) for old, add in zip(self._kept, new, strict=True))
        self._kept = _Features(*joined)


def _features(lines: list[str]) -> _Features:
    lengths = numpy.log(numpy.fromiter((len(line) for line in lines), numpy.float32, len(lines)) + 5)
    anchors = numpy.fromiter((_anchors(line) for line in lines), numpy.uint64, len(lines))
    ends = numpy.fromiter((_ENDS.get(line.rstrip(_CLOSING)[-1:], 0) for line in lines), numpy.int8, len(lines))
    return _Features(lengths, anchors, ends)


def _anchors(line: str) -> int:
    bits = 0
    for anchor in _ANCHOR.findall(line):
        # Unlike Python's hash, this one is the same in every process.
        bits |= 1 << (sum(ord(letter) * 31**place for place, letter in enumerate(anchor)) % 61)
    return bits


def _learn(lines: _Features, partners: _Features, cost: float) -> _Evidence:
    """Learn the statistics along the path that lengths alone suggest."""
    first = _Evidence()
    path = _best_path(_score(lines, partners, first), cost)
    rows = numpy.arange(len(path))
    columns = numpy.minimum(rows + path + REACH, len(partners.lengths) - 1)
    ratio = partners.lengths[columns] - lines.lengths
    known = ~numpy.isnan(ratio)
    if known.sum() < 10:
        return first
    centre = float(numpy.median(ratio[known]))
    deviation = 1.4826 * float(numpy.median(numpy.abs(ratio[known] - centre)))
    both = known & (lines.anchors != 0) & (partners.anchors[columns] != 0)
    shared = int((lines.anchors[both] & partners.anchors[columns][both] != 0).sum())
    ends = int((lines.ends[known] == partners.ends[columns][known]).sum())
    return _Evidence(
        # Not below 0.12: files written by a program have no spread at all, and then one odd line would decide.
        deviation=min(max(deviation, 0.12), 0.6),
        centre=centre,
        same_anchor=(shared + 6) / (int(both.sum()) + 10),
        same_end=(ends + 6) / (int(known.sum()) + 10),
    )


def _score(lines: _Features, partners: _Features, evidence: _Evidence) -> Scores:
    """Return log-likelihood ratios [lines, offsets], offsets from -REACH to REACH; 0 where no partner exists."""
    count = len(lines.lengths)
    missing = max(count + 2 * REACH - len(partners.lengths), 0)
    lengths = numpy.concatenate([partners.lengths, numpy.full(missing, numpy.nan, numpy.float32)])
    anchors = numpy.concatenate([partners.anchors, numpy.zeros(missing, numpy.uint64)])
    ends = numpy.concatenate([partners.ends, numpy.zeros(missing, numpy.int8)])
    index = numpy.arange(count)[:, None] + numpy.arange(2 * REACH + 1)[None, :]
    theirs = lengths[index]
    exists = ~numpy.isnan(theirs)
    if not exists.any():
        return numpy.zeros(exists.shape, numpy.float32)
    # For two random lines variances add. If all lines are about equally long, lengths tell nothing.
    at_random = float(numpy.var(lines.lengths) + numpy.nanvar(partners.lengths)) ** 0.5
    deviation = min(evidence.deviation, at_random) or 1.0
    centre = evidence.centre
    if centre is None:
        centre = float(numpy.nanmean(partners.lengths) - numpy.mean(lines.lengths))
    away = (theirs - lines.lengths[:, None] - centre) ** 2
    total = numpy.log(max(at_random, deviation) / deviation) - away / 2 * (
        deviation**-2 - max(at_random, deviation) ** -2
    )
    scores = numpy.clip(total, -_MAX_EVIDENCE, _MAX_EVIDENCE)
    if evidence.same_anchor is not None:
        scores = scores + _anchor_scores(lines.anchors, anchors, index, evidence.same_anchor)
    if evidence.same_end is not None:
        scores = scores + _end_scores(lines.ends, ends[index], partners.ends, evidence.same_end)
    return numpy.where(exists, scores, 0).astype(numpy.float32)


def _anchor_scores(
    ours: NDArray[numpy.uint64], theirs: NDArray[numpy.uint64], index: NDArray[numpy.int64], same: float
) -> NDArray[numpy.float64]:
    partners = theirs[index]
    both = (ours[:, None] != 0) & (partners != 0)
    shared = both & (ours[:, None] & partners != 0)
    # How often unrelated lines share an anchor: compare each line with one half a window away.
    strangers = numpy.roll(theirs[: len(ours)], len(ours) // 2)
    pairs = (ours != 0) & (strangers != 0)
    by_chance = (int((pairs & (ours & strangers != 0)).sum()) + 1) / (int(pairs.sum()) + 4)
    same = max(same, by_chance)
    found, lost = numpy.log(same / by_chance), numpy.log((1 - same) / (1 - by_chance))
    return numpy.where(shared, found, numpy.where(both, lost, 0.0))


def _end_scores(
    ours: NDArray[numpy.int8], theirs: NDArray[numpy.int8], all_theirs: NDArray[numpy.int8], same: float
) -> NDArray[numpy.float64]:
    kinds = int(max(_ENDS.values())) + 1
    share = (numpy.bincount(all_theirs, minlength=kinds) + 1) / (len(all_theirs) + kinds)
    # The most common kind tells nothing if it is more common than agreement.
    agreed = numpy.maximum(same, share)
    found, lost = numpy.log(agreed / share), numpy.log((1 - agreed) / (1 - share))
    return numpy.where(theirs == ours[:, None], found[ours][:, None], lost[ours][:, None])


def _best_path(scores: Scores, cost: float) -> NDArray[numpy.int64]:
    """Find the offset of each line, from -REACH to REACH, on the best path that begins at 0."""
    count, offsets = scores.shape
    stays = numpy.empty((count, offsets), dtype=bool)
    leaves = numpy.empty(count, dtype=numpy.int64)
    total = numpy.full(offsets, -cost, dtype=numpy.float64)
    total[REACH] = 0.0
    for line in range(count):
        best = int(total.argmax())
        floor = total[best] - cost
        leaves[line] = best
        numpy.greater_equal(total, floor, out=stays[line])
        numpy.maximum(total, floor, out=total)
        total += scores[line]
    path = numpy.empty(count, dtype=numpy.int64)
    at = int(total.argmax())
    if total[REACH] >= total[at]:
        at = REACH
    for line in range(count - 1, -1, -1):
        path[line] = at
        if not stays[line, at]:
            at = int(leaves[line])
    return _drop_unlikely_changes(scores, path - REACH, cost / 2)


def _drop_unlikely_changes(scores: Scores, path: NDArray[numpy.int64], least: float) -> NDArray[numpy.int64]:
    """Undo changes after which lines fit no better than random ones.

    If the sides have nothing in common, some offset is always the best; that is not evidence of a shift.
    """
    change_points = _change_points(path)
    for at, after in zip(change_points, [*change_points[1:], len(path)], strict=False):
        if float(scores[numpy.arange(at, after), path[at:after] + REACH].sum()) < least:
            path[at:after] = path[at - 1] if at else 0
    return path


def _change_points(path: NDArray[numpy.int64]) -> list[int]:
    """The lines whose offset differs from that of the previous line."""
    before = numpy.concatenate([[0], path[:-1]])
    return [int(line) for line in numpy.flatnonzero(path != before)]


def _locate_change(
    scores: Scores, path: NDArray[numpy.int64], lines: tuple[int, int, int], first: int, offset: int
) -> OffsetChange:
    """Locate a change: every nearby position with almost the same score is possible.

    Args:
        path: offsets of this window's lines, relative to `offset`.
        lines: the previous change, this one and the next one.
        first: number of the window's first line in the text.
        offset: the offset at the beginning of the window.
    """
    before, at, after = lines
    old = int(path[at - 1]) if at else 0
    new = int(path[at])
    left_out = max(old - new, 0)  # source lines without a partner
    low, high = max(at - _SEARCH_RADIUS, before), min(at + _SEARCH_RADIUS, after)
    kept = numpy.concatenate([[0.0], numpy.cumsum(scores[low:high, old + REACH])])
    gained = numpy.concatenate([numpy.cumsum(scores[low:high, new + REACH][::-1])[::-1], numpy.zeros(left_out + 1)])
    # With the change at some line, lines before it have the old offset, `left_out` lines none, the rest the new one.
    value = kept + gained[left_out : left_out + len(kept)]
    possible = numpy.flatnonzero(value >= value.max() - _TOLERANCE)
    return OffsetChange(
        start=first + low + int(value.argmax()),
        certain_until=first + low + int(possible[0]),
        certain_from=first + low + int(possible[-1]) + left_out,
        offset=offset + new,
    )

"""Texts whose sides drift apart: find where, mark the wrong pairs, or realign the lines."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, tee
from typing import NamedTuple

from pellucid.corpus.doctor.offset_path import COST, COST_IF_UNEQUAL, OffsetPath, find_offset_path
from pellucid.corpus.doctor.report import excerpt
from pellucid.corpus.pairs import Issue, Location, RawPair, decode
from pellucid.corpus.text_files import read_lines
from pellucid.plurals import pluralize

__all__ = [
    "ShiftedSpan",
    "SideDrift",
    "count_lines",
    "find_drift",
    "first_suspicious_line",
    "mark_shifted",
    "realign",
    "shift_message",
]


class ShiftedSpan(NamedTuple):
    """A span of pairs whose sides do not belong together; pairs count from 0.

    Args:
        start: the most likely first pair.
        first: the first pair that may be wrong.
        end: the pair after the last one that may be wrong.
        offset: the source of pair i belongs to the target of pair i + offset.
        recovers: whether another span or correct pairs follow.
    """

    start: int
    first: int
    end: int
    offset: int
    recovers: bool


class SideDrift(NamedTuple):
    """How the two sides of a group of files correspond.

    Args:
        path: the most likely path of offsets.
        spans: where the offset is not 0.
        one_sided_blank: the first blank line whose partner is not blank, if there is one.
    """

    path: OffsetPath
    spans: tuple[ShiftedSpan, ...]
    one_sided_blank: Location | None

    @property
    def unequal(self) -> bool:
        """Whether one side has more lines than the other."""
        return self.path.source_lines != self.path.target_lines

    @property
    def shifted(self) -> int:
        """Number of pairs in all spans."""
        return sum(span.end - span.first for span in self.spans)

    @property
    def recovers(self) -> bool:
        """Whether the sides are aligned again at the end."""
        return not self.spans or self.spans[-1].recovers


class _SideLine(NamedTuple):
    """A line of one side of the pairs."""

    text: str
    location: Location
    issues: tuple[Issue, ...]


def find_drift(pairs: Iterable[RawPair], again: Iterable[RawPair]) -> SideDrift:
    """Find where the sides drift apart.

    Args:
        pairs: the pairs as they are in the files.
        again: the same pairs, read a second time only if the sides differ in length: then weaker evidence counts.
    """
    blanks: list[Location] = []
    path = _offset_path(_watch_blanks(pairs, blanks), COST)
    if path.source_lines != path.target_lines:
        path = _offset_path(again, COST_IF_UNEQUAL)
    return SideDrift(path, _shifted_spans(path), blanks[0] if blanks else None)


def count_lines(files: Sequence[str]) -> SideDrift:
    """Compare two aligned files only by their numbers of lines."""
    source_lines, target_lines = (sum(1 for _ in read_lines(file)) for file in files)
    return SideDrift(OffsetPath((), source_lines, target_lines), (), None)


def first_suspicious_line(files: Sequence[str], found: SideDrift) -> tuple[Location, str]:
    """Find the line where two files of different lengths seem to diverge, and the reason."""
    path = found.path
    recovered = max((number for number, change in enumerate(path.changes) if not change.offset), default=-1)
    for change in path.changes[recovered + 1 : recovered + 2]:  # after this change the sides are never aligned again
        side = 1 if change.offset > 0 else 0  # the side with lines without partners
        lines = list(islice(read_lines(files[side]), change.start, max(change.certain_from, change.start + 1)))
        blank = next((number for number, line in lines if not line.strip()), None)
        if blank is not None:
            return Location(files[side], blank), "empty"
        if lines:
            number, line = lines[0]
            text, _ = decode(line, Location(files[side], number))
            return Location(files[side], number), f"{excerpt(text, 30)} has no partner"
    if found.one_sided_blank is not None:
        return found.one_sided_blank, "empty"
    longer = 0 if path.source_lines > path.target_lines else 1
    return Location(files[longer], min(path[1:]) + 1), "the other file ends before it"


def shift_message(pair: RawPair, span: ShiftedSpan) -> str:
    """Describe what is wrong from a pair on."""
    ahead = "target" if span.offset > 0 else "source"
    lines = abs(span.offset)
    count = max(span.end - span.start, 1)
    until = f"for {pluralize(count, 'line')}" if span.recovers else "to the end"
    return (
        f"from here {until}, the {ahead} side has {pluralize(lines, 'extra line')}: "
        f"{excerpt(pair.source, 30)} is paired with {excerpt(pair.target, 30)}"
    )


def mark_shifted(pairs: Iterable[RawPair], spans: Iterable[ShiftedSpan]) -> Iterator[RawPair]:
    """Yield the pairs unchanged, those in spans with the issue `shift`."""
    pending = iter(spans)
    span = next(pending, None)
    for number, pair in enumerate(pairs):
        while span is not None and number >= span.end:
            span = next(pending, None)
        if span is not None and number >= span.first and not pair.issues:
            pair = pair._replace(issues=(Issue("shift", pair.source_location, "paired with the wrong partner"),))
        yield pair


def realign(pairs: Iterable[RawPair], path: OffsetPath) -> Iterator[RawPair]:
    """Yield pairs along a path of offsets; a line without a certain partner has the issue `unpaired`."""
    sources, targets = _sides(pairs)
    source_at = target_at = offset = 0
    for change in (*path.changes, None):
        end = path.source_lines if change is None else change.certain_until
        while source_at < end and source_at + offset < path.target_lines:
            if target_at < source_at + offset:
                yield _unpaired(next(targets), "target")
                target_at += 1
            elif target_at > source_at + offset:
                yield _unpaired(next(sources), "source")
                source_at += 1
            else:
                yield _paired(next(sources), next(targets))
                source_at, target_at = source_at + 1, target_at + 1
        offset = offset if change is None else change.offset
        while change is not None and source_at < min(change.certain_from, path.source_lines):
            yield _unpaired(next(sources), "source")
            source_at += 1
    yield from (_unpaired(line, "source") for line in sources)
    yield from (_unpaired(line, "target") for line in targets)


def _shifted_spans(path: OffsetPath) -> tuple[ShiftedSpan, ...]:
    spans = []
    shortest = min(path.source_lines, path.target_lines)
    for change, following in zip(path.changes, [*path.changes[1:], None], strict=False):
        if change.offset:
            end = following.certain_from if following is not None else shortest
            spans.append(ShiftedSpan(change.start, change.certain_until, end, change.offset, following is not None))
    return tuple(spans)


def _watch_blanks(pairs: Iterable[RawPair], blanks: list[Location]) -> Iterator[RawPair]:
    for pair in pairs:
        if not blanks and not pair.issues and (not pair.source.strip()) != (not pair.target.strip()):
            blanks.append(pair.target_location if pair.source.strip() else pair.source_location)
        yield pair


def _offset_path(pairs: Iterable[RawPair], cost: float) -> OffsetPath:
    sources, targets = _sides(pairs)
    return find_offset_path((line.text for line in sources), (line.text for line in targets), cost)


def _sides(pairs: Iterable[RawPair]) -> tuple[Iterator[_SideLine], Iterator[_SideLine]]:
    """The lines of both sides, each to the end of its file."""
    left, right = tee(pairs)
    return (
        _side((pair.source, pair.source_location, pair.target_location, pair.issues) for pair in left),
        _side((pair.target, pair.target_location, pair.source_location, pair.issues) for pair in right),
    )


def _side(lines: Iterable[tuple[str, Location, Location, tuple[Issue, ...]]]) -> Iterator[_SideLine]:
    for text, location, partner, issues in lines:
        if any(issue.check == "line-count" and issue.location == partner for issue in issues):
            return  # the file ended before this line
        own = tuple(issue for issue in issues if issue.location == location and issue.check != "line-count")
        yield _SideLine(text, location, own)


def _paired(source: _SideLine, target: _SideLine) -> RawPair:
    issues = tuple(dict.fromkeys((*source.issues, *target.issues)))
    return RawPair(source.text, target.text, source.location, target.location, issues)


def _unpaired(line: _SideLine, side: str) -> RawPair:
    issue = Issue("unpaired", line.location, "no certain partner")
    texts = (line.text, "") if side == "source" else ("", line.text)
    return RawPair(*texts, line.location, line.location, (issue,))

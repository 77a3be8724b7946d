"""A text whose sides run apart: seen from each side, marked where it is wrong, or paired anew."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, tee
from typing import NamedTuple

from pellucid.corpus.counts import counted
from pellucid.corpus.doctor.report import excerpt
from pellucid.corpus.doctor.shift import COST, COST_IF_UNEQUAL, OffsetPath, follow_offsets
from pellucid.corpus.pairs import Place
from pellucid.corpus.raw_pairs import Fault, RawPair, decode
from pellucid.corpus.text_files import read_lines

__all__ = [
    "Stretch",
    "Survey",
    "count_sides",
    "first_suspicious",
    "mark_shifted",
    "pair_anew",
    "shift_message",
    "survey",
]


class Stretch(NamedTuple):
    """A run of pairs whose sides do not belong together; pairs count from 0.

    Args:
        start: the likeliest first pair of it.
        first: the first pair that may be wrong.
        end: the pair after the last one that may be wrong.
        offset: the source of pair i belongs to the target of pair i + offset.
        heals: whether another stretch or right pairs follow.
    """

    start: int
    first: int
    end: int
    offset: int
    heals: bool


class Survey(NamedTuple):
    """How the two sides of a group of files run beside each other.

    Args:
        path: the likeliest path of offsets.
        stretches: where it is not 0.
        one_sided_blank: the first line that is blank while its partner is not, if there is one.
    """

    path: OffsetPath
    stretches: tuple[Stretch, ...]
    one_sided_blank: Place | None

    @property
    def unequal(self) -> bool:
        """Whether one side has more lines than the other."""
        return self.path.source_lines != self.path.target_lines

    @property
    def shifted(self) -> int:
        """Pairs in all stretches together."""
        return sum(stretch.end - stretch.first for stretch in self.stretches)

    @property
    def heals(self) -> bool:
        """Whether the sides end as they began, side by side."""
        return not self.stretches or self.stretches[-1].heals


class _Line(NamedTuple):
    text: str
    place: Place
    faults: tuple[Fault, ...]


def survey(pairs: Iterable[RawPair], again: Iterable[RawPair]) -> Survey:
    """Find where the sides run apart.

    Args:
        pairs: the pairs as they stand in the files.
        again: the same once more, read only if the sides differ in length: then smaller signs count.
    """
    blanks: list[Place] = []
    left, right = tee(_watched(pairs, blanks))
    path = follow_offsets((line.text for line in _sources(left)), (line.text for line in _targets(right)), COST)
    if path.source_lines != path.target_lines:
        left, right = tee(again)
        path = follow_offsets(
            (line.text for line in _sources(left)), (line.text for line in _targets(right)), COST_IF_UNEQUAL
        )
    return Survey(path, _stretches(path), blanks[0] if blanks else None)


def count_sides(files: Sequence[str]) -> Survey:
    """Return what is known of two aligned files when their lines are only counted."""
    source_lines, target_lines = (sum(1 for _ in read_lines(file)) for file in files)
    return Survey(OffsetPath((), source_lines, target_lines), (), None)


def first_suspicious(files: Sequence[str], found: Survey) -> tuple[Place, str]:
    """Return the line where two files of different lengths seem to part, and why that one."""
    path = found.path
    healed = max((number for number, jump in enumerate(path.jumps) if not jump.offset), default=-1)
    for jump in path.jumps[healed + 1 : healed + 2]:  # from there on the sides never run together again
        side = 1 if jump.offset > 0 else 0  # the side that has lines without partners here
        lines = list(islice(read_lines(files[side]), jump.start, max(jump.sure_from, jump.start + 1)))
        blank = next((number for number, line in lines if not line.strip()), None)
        if blank is not None:
            return Place(files[side], blank), "empty"
        if lines:
            return Place(
                files[side], lines[0][0]
            ), f"{excerpt(decode(lines[0][1], Place('', 0))[0], 30)} has no partner"
    if found.one_sided_blank is not None:
        return found.one_sided_blank, "empty"
    longer = 0 if path.source_lines > path.target_lines else 1
    return Place(files[longer], min(path[1:]) + 1), "the other file ends before it"


def shift_message(pair: RawPair, stretch: Stretch) -> str:
    """Say what is wrong from a pair on."""
    ahead = "target" if stretch.offset > 0 else "source"
    lines = abs(stretch.offset)
    count = max(stretch.end - stretch.start, 1)
    until = f"for {counted(count, 'line')}" if stretch.heals else "to the end"
    return (
        f"from here {until}, the {ahead} side has {counted(lines, 'line')} too many: "
        f"{excerpt(pair.source, 30)} stands beside {excerpt(pair.target, 30)}"
    )


def mark_shifted(pairs: Iterable[RawPair], stretches: Iterable[Stretch]) -> Iterator[RawPair]:
    """Yield the pairs as they are, those of the stretches with the fault `shift`."""
    pending = iter(stretches)
    stretch = next(pending, None)
    for number, pair in enumerate(pairs):
        while stretch is not None and number >= stretch.end:
            stretch = next(pending, None)
        if stretch is not None and number >= stretch.first and not pair.faults:
            pair = pair._replace(faults=(Fault("shift", pair.source_place, "beside the wrong partner"),))
        yield pair


def pair_anew(pairs: Iterable[RawPair], path: OffsetPath) -> Iterator[RawPair]:
    """Yield pairs along a path of offsets; a line left without a sure partner comes with the fault `unpaired`."""
    left, right = tee(pairs)
    sources, targets = _sources(left), _targets(right)
    source_at = target_at = offset = 0
    for jump in (*path.jumps, None):
        end = path.source_lines if jump is None else jump.sure_until
        while source_at < end and source_at + offset < path.target_lines:
            if target_at < source_at + offset:
                yield _alone(next(targets), "target")
                target_at += 1
            elif target_at > source_at + offset:
                yield _alone(next(sources), "source")
                source_at += 1
            else:
                yield _together(next(sources), next(targets))
                source_at, target_at = source_at + 1, target_at + 1
        offset = offset if jump is None else jump.offset
        while jump is not None and source_at < min(jump.sure_from, path.source_lines):
            yield _alone(next(sources), "source")
            source_at += 1
    yield from (_alone(line, "source") for line in sources)
    yield from (_alone(line, "target") for line in targets)


def _stretches(path: OffsetPath) -> tuple[Stretch, ...]:
    stretches = []
    shortest = min(path.source_lines, path.target_lines)
    for jump, following in zip(path.jumps, [*path.jumps[1:], None], strict=False):
        if jump.offset:
            end = following.sure_from if following is not None else shortest
            stretches.append(Stretch(jump.start, jump.sure_until, end, jump.offset, following is not None))
    return tuple(stretches)


def _watched(pairs: Iterable[RawPair], blanks: list[Place]) -> Iterator[RawPair]:
    for pair in pairs:
        if not blanks and not pair.faults and (not pair.source.strip()) != (not pair.target.strip()):
            blanks.append(pair.target_place if pair.source.strip() else pair.source_place)
        yield pair


def _sources(pairs: Iterable[RawPair]) -> Iterator[_Line]:
    for pair in pairs:
        if any(fault.check == "line-count" and fault.place == pair.target_place for fault in pair.faults):
            return  # the source file ended before this line, and has none after it
        faults = tuple(
            fault for fault in pair.faults if fault.place == pair.source_place and fault.check != "line-count"
        )
        yield _Line(pair.source, pair.source_place, faults)


def _targets(pairs: Iterable[RawPair]) -> Iterator[_Line]:
    for pair in pairs:
        if any(fault.check == "line-count" and fault.place == pair.source_place for fault in pair.faults):
            return
        faults = tuple(
            fault for fault in pair.faults if fault.place == pair.target_place and fault.check != "line-count"
        )
        yield _Line(pair.target, pair.target_place, faults)


def _together(source: _Line, target: _Line) -> RawPair:
    faults = tuple(dict.fromkeys((*source.faults, *target.faults)))
    return RawPair(source.text, target.text, source.place, target.place, faults)


def _alone(line: _Line, side: str) -> RawPair:
    fault = Fault("unpaired", line.place, "no certain partner")
    texts = (line.text, "") if side == "source" else ("", line.text)
    return RawPair(*texts, line.place, line.place, (fault,))

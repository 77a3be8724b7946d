"""The whole examination: what is wrong with a text, and the pairs that remain."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy
from numpy.typing import NDArray

from pellucid.corpus.cleaning import clean
from pellucid.corpus.config import DataConfig
from pellucid.corpus.doctor.checks import AUTO_FIXED, Level
from pellucid.corpus.doctor.drift import (
    SideDrift,
    count_lines,
    find_drift,
    first_suspicious_line,
    mark_shifted,
    realign,
    shift_message,
)
from pellucid.corpus.doctor.pair_checker import HeldOutTexts, OnDropped, PairChecker
from pellucid.corpus.doctor.profile import CorpusProfile, learn_profile
from pellucid.corpus.doctor.report import DoctorReport, IssueLog
from pellucid.corpus.pairs import Location, SentencePair
from pellucid.corpus.raw_pairs import LanguagePair, RawPair
from pellucid.corpus.reading import SourceGroup, find_languages, group_sources, read_group
from pellucid.errors import UserError
from pellucid.plurals import pluralize

__all__ = ["Examination", "Stamp", "examine", "stamp"]

_BLOCK = 8192  # pairs judged at once; a multiple of 8, so that bits pack without gaps
_SAMPLE_OF_GROUP = 2000  # pairs from which is learnt what is usual
_SAMPLE = 20_000
_LITTLE = 0.02  # share of the pairs that may stand in stretches that heal, without training refusing the text
_SHORT = 60  # pairs that such a stretch may have: real texts have them, where a chapter is numbered otherwise

Stamp = tuple[str, int, int]


@dataclass(frozen=True)
class Examination:
    """A text that was examined: the report, and the pairs that remain.

    Args:
        report: what was found.
        languages: codes of both sides, None where unknown.
        options: limits and levels by which it was judged.
    """

    report: DoctorReport
    languages: LanguagePair
    options: DataConfig
    _text: "_Text" = field(repr=False)
    _used: NDArray[numpy.uint8] = field(repr=False)
    _stamps: tuple[Stamp, ...] = field(repr=False)

    def pairs(self) -> Iterator[SentencePair]:
        """Yield the usable pairs, cleaned, in file order, reading the files anew; may be called again and again.

        Also where training would refuse the text: then these are the pairs that have no fault of their own.

        Raises:
            UserError: if a file has changed since it was examined.
        """
        if stamp(self.report.files) != self._stamps:
            raise UserError("the text has changed since it was examined", where=self.report.files, hint="Start again.")
        stream = self._text.stream()
        for start in range(0, len(self._used), _BLOCK // 8):
            bits = numpy.unpackbits(self._used[start : start + _BLOCK // 8])
            for pair, used in zip(islice(stream, _BLOCK), bits.tolist(), strict=False):
                if used:
                    yield SentencePair(
                        clean(pair.source).text, clean(pair.target).text, pair.source_location, pair.target_location
                    )


def examine(
    sources: Sequence[str | Path],
    *,
    source_lang: str | None = None,
    target_lang: str | None = None,
    options: DataConfig | None = None,
    valid: Sequence[str | Path] = (),
    test: Sequence[str | Path] = (),
    on_dropped: OnDropped | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Examination:
    """Examine a text: report what is wrong with it, and decide which pairs are used.

    Memory does not grow with the text, but for 16 bytes a pair to know duplicates and near-duplicates again, and a
    bit a pair. The files are read twice, and once more for each `pairs()`.

    Args:
        sources: files, as `read_pairs` takes them.
        source_lang: code of the source language, where files have several.
        target_lang: the same for the target.
        options: limits, and what is done about which fault.
        valid: files with validation pairs; pairs whose source stands there are left out.
        test: the same with test pairs.
        on_dropped: called with every pair that is left out, the check and the message.
        on_progress: called with the number of pairs read since the last call, over all readings.

    Raises:
        UserError: if files cannot be read, do not go together, or their languages are not clear.
    """
    options = options or DataConfig()
    groups = group_sources(sources)
    wanted = LanguagePair(source_lang, target_lang, source_lang is not None or target_lang is not None)
    languages = find_languages(groups, wanted)
    files = tuple(file for group in groups for file in group.files)
    stamps = stamp(files)
    drifts = _find_drifts(groups, languages, options, on_progress)
    text = _Text(tuple(groups), languages, drifts, options)
    log = IssueLog(_levels(options, drifts))
    _report_sides(text, log)
    check_block = PairChecker(_learn(groups, languages), options, _read_held((valid, test), languages), log, on_dropped)
    used, pairs, usable = _check_all(text, check_block, on_progress)
    if not usable and all(problem.level != "error" for problem in log.issues()):
        log.note("empty", Location(files[0], 1), f"none of {pluralize(pairs, 'pair')} can be used")
    report = DoctorReport(
        files,
        pairs,
        usable,
        log.issues(),
        log.exact_counts(options.skip),
        (languages.source, languages.target),
        "as asked" if languages.requested else "as the file says",
    )
    return Examination(report, languages, options, text, used, stamps)


@dataclass(frozen=True)
class _Text:
    """The files, and how their sides run beside each other."""

    groups: tuple[SourceGroup, ...]
    languages: LanguagePair
    drifts: tuple[SideDrift | None, ...]
    options: DataConfig

    def stream(self) -> Iterator[RawPair]:
        """Yield all pairs in order: paired anew if the user wants that, else marked where the sides run apart."""
        for group, found in zip(self.groups, self.drifts, strict=True):
            pairs = read_group(group, self.languages)
            if found is None:
                yield from pairs
            elif self.is_realigned(found):
                yield from realign(pairs, found.path)
            elif found.spans and self.options.level("shift") != "warn":
                yield from mark_shifted(pairs, found.spans)
            else:
                yield from pairs

    def is_realigned(self, found: SideDrift) -> bool:
        """Say whether a group's lines get new partners."""
        return (found.unequal and "line-count" in self.options.drop) or (
            bool(found.spans) and "shift" in self.options.drop
        )


def _find_drifts(
    groups: Sequence[SourceGroup],
    languages: LanguagePair,
    options: DataConfig,
    on_progress: Callable[[int], None] | None,
) -> tuple[SideDrift | None, ...]:
    drifts: list[SideDrift | None] = []
    for group in groups:
        if "shift" in options.skip:
            drifts.append(count_lines(group.files) if group.format is None else None)
            continue
        pairs, again = read_group(group, languages), read_group(group, languages)
        drifts.append(find_drift(_counted(pairs, on_progress), again))
    return tuple(drifts)


def _levels(options: DataConfig, drifts: Sequence[SideDrift | None]) -> Callable[[str], Level]:
    """Return the level of each check for this text: a shift that is short and heals only costs its pairs."""
    known = [found for found in drifts if found is not None]
    lines = sum(max(found.path.source_lines, found.path.target_lines) for found in known)
    shifted = sum(found.shifted for found in known)
    short = all(span.end - span.first <= _SHORT for found in known for span in found.spans)
    little = all(found.recovers for found in known) and short and shifted <= _LITTLE * lines

    def level(check: str) -> Level:
        found = options.level(check)
        return "drop" if check == "shift" and found == "error" and little else found

    return level


def _report_sides(text: _Text, log: IssueLog) -> None:
    """Report once for each place what would else be told for thousands of pairs."""
    for group, found in zip(text.groups, text.drifts, strict=True):
        if found is None:
            continue
        if found.unequal:
            location, why = first_suspicious_line(group.files, found)
            ours, theirs = (pluralize(lines, "line") for lines in found.path[1:])
            log.note(
                "line-count",
                location,
                f"source and target differ in length: {group.files[0]} has {ours}, {group.files[1]} {theirs}; "
                f"first suspicious line: {location} ({why})",
                count=0,
            )
        starts = {span.start: span for span in found.spans}
        if starts:
            pairs = islice(read_group(group, text.languages), max(starts) + 1)
            for number, pair in enumerate(pairs):
                if number in starts:
                    log.note("shift", pair.source_location, shift_message(pair, starts[number]), count=0)


def _learn(groups: Sequence[SourceGroup], languages: LanguagePair) -> CorpusProfile:
    sources: list[str] = []
    targets: list[str] = []
    for group in groups:
        for pair in islice(read_group(group, languages), min(_SAMPLE_OF_GROUP, _SAMPLE - len(sources))):
            source, target = clean(pair.source).text, clean(pair.target).text
            if source and target and all(issue.check in AUTO_FIXED for issue in pair.issues):
                sources.append(source)
                targets.append(target)
    return learn_profile(sources, targets, languages.source, languages.target)


def _read_held(sets: Sequence[Sequence[str | Path]], languages: LanguagePair) -> HeldOutTexts:
    held = HeldOutTexts()
    for files in sets:
        for group in group_sources(files) if files else ():
            for pair in read_group(group, languages):
                held.add(pair)
    return held


def _check_all(
    text: _Text, check_block: PairChecker, on_progress: Callable[[int], None] | None
) -> tuple[NDArray[numpy.uint8], int, int]:
    """Return a bit for each pair, and how many there are and are used."""
    stream = _counted(text.stream(), on_progress)
    packed = bytearray()
    pairs = usable = 0
    while block := list(islice(stream, _BLOCK)):
        used = check_block.check_block(block)
        packed += numpy.packbits(used).tobytes()
        pairs += len(block)
        usable += int(used.sum())
    return numpy.frombuffer(bytes(packed), dtype=numpy.uint8), pairs, usable


def _counted(pairs: Iterator[RawPair], on_progress: Callable[[int], None] | None) -> Iterator[RawPair]:
    if on_progress is None:
        yield from pairs
        return
    while block := list(islice(pairs, 4096)):
        yield from block
        on_progress(len(block))


def stamp(files: Sequence[str]) -> tuple[Stamp, ...]:
    """Return what tells whether a file has changed; files that cannot be read are complained about by their reader."""
    stamps = []
    for file in files:
        try:
            state = Path(file).stat()
        except (OSError, ValueError):
            continue
        stamps.append((file, state.st_size, state.st_mtime_ns))
    return tuple(stamps)

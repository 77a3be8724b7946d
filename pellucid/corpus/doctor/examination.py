"""Examine sentence pairs: what is wrong with them by file and line, and which pairs are used."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy
from numpy.typing import NDArray

from pellucid.corpus.cleaning import clean
from pellucid.corpus.config import DataConfig
from pellucid.corpus.doctor.checks import AUTO_FIXED, CHECKS, Level
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
from pellucid.corpus.pairs import LanguagePair, Location, RawPair, SentencePair
from pellucid.corpus.reading import SourceGroup, find_languages, group_sources, read_group
from pellucid.errors import UserError
from pellucid.plurals import pluralize

__all__ = ["Examination", "FileState", "check_unchanged", "examine", "file_states"]

_BLOCK = 8192  # pairs checked at once; a multiple of 8, so that bits pack without gaps
_SAMPLE_OF_GROUP = 2000  # pairs of a file from which the profile is learned
_SAMPLE = 20_000  # pairs of all files
_MAX_SHIFTED = 0.02  # share of pairs in shifted spans that recover, up to which they are only dropped
_MAX_SPAN = 60  # pairs in such a span; real texts have them, where a chapter is numbered differently

FileState = tuple[str, int, int]
"""A file's name, size and time of last change."""


@dataclass(frozen=True)
class Examination:
    """An examined text: the report, and the pairs that are used.

    Args:
        languages: codes of both sides, None where unknown.
    """

    report: DoctorReport
    languages: LanguagePair
    options: DataConfig
    _text: "_Text" = field(repr=False)
    _used: NDArray[numpy.uint8] = field(repr=False)
    _states: tuple[FileState, ...] = field(repr=False)

    def pairs(self) -> Iterator[SentencePair]:
        """Yield the usable pairs, cleaned, in file order; every call reads the files again.

        If training would refuse the text, these are the pairs without issues of their own.

        Raises:
            UserError: if a file has changed since it was examined.
        """
        check_unchanged(self.report.files, self._states)
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
    in_training: bool = False,
) -> Examination:
    """Examine a text: report what is wrong with it, and decide which pairs are used.

    Memory grows by 16 bytes per pair, to find duplicates and near-duplicates, and by one bit per pair. The files are
    read twice, and once more for each call of `pairs()`.

    Args:
        sources: files, as for `read_pairs`.
        source_lang, target_lang: codes of the languages, for files with several.
        valid, test: files with held-out pairs; pairs with the same source are left out.
        on_dropped: called with every pair left out, the check and the message.
        on_progress: called with the number of pairs read since the last call, in all passes.
        in_training: whether hints name the flags of training instead of the doctor's.

    Raises:
        UserError: if files cannot be read, do not form pairs, or leave the languages open.
    """
    options = options or DataConfig()
    groups = group_sources(sources)
    wanted = LanguagePair(source_lang, target_lang, source_lang is not None or target_lang is not None)
    languages = find_languages(groups, wanted)
    files = tuple(file for group in groups for file in group.files)
    states = file_states(files)
    drifts = _find_drifts(groups, languages, options, on_progress)
    text = _Text(tuple(groups), languages, drifts, options)
    log = IssueLog(_levels(options, drifts), in_training)
    _report_drift(text, log)
    checker = PairChecker(
        _learn_profile(groups, languages), options, _read_held_out((valid, test), languages), log, on_dropped
    )
    used, pairs, usable = _check_all(text, checker, on_progress)
    if not usable and all(issue.level != "error" for issue in log.issues()):
        log.add("empty", Location(files[0], 1), f"none of {pluralize(pairs, 'pair')} can be used")
    report = DoctorReport(
        files,
        pairs,
        usable,
        log.issues(),
        {check: log.counts[check] for check in CHECKS if check not in options.skip},
        (languages.source, languages.target),
        "as requested" if languages.requested else "from the file",
    )
    return Examination(report, languages, options, text, used, states)


@dataclass(frozen=True)
class _Text:
    """The files, and where their sides drift apart."""

    groups: tuple[SourceGroup, ...]
    languages: LanguagePair
    drifts: tuple[SideDrift | None, ...]
    options: DataConfig

    def stream(self) -> Iterator[RawPair]:
        """Yield all pairs in order: realigned if the user wants that, else marked where the sides drift apart."""
        for group, found in zip(self.groups, self.drifts, strict=True):
            pairs = read_group(group, self.languages)
            if found is not None:
                issues = {"line-count": found.unequal, "shift": bool(found.spans)}
                if any(occurs and check in self.options.drop for check, occurs in issues.items()):
                    pairs = realign(pairs, found.path)
                elif found.spans and self.options.level("shift") != "warn":
                    pairs = mark_shifted(pairs, found.spans)
            yield from pairs


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
        drifts.append(find_drift(_with_progress(pairs, on_progress), again))
    return tuple(drifts)


def _levels(options: DataConfig, drifts: Sequence[SideDrift | None]) -> Callable[[str], Level]:
    """The level of each check for this text: short shifts that recover only cost their pairs."""
    known = [found for found in drifts if found is not None]
    lines = sum(max(found.path.source_lines, found.path.target_lines) for found in known)
    shifted = sum(found.shifted for found in known)
    short = all(span.end - span.first <= _MAX_SPAN for found in known for span in found.spans)
    little = all(found.recovers for found in known) and short and shifted <= _MAX_SHIFTED * lines

    def level(check: str) -> Level:
        found = options.level(check)
        return "drop" if check == "shift" and found == "error" and little else found

    return level


def _report_drift(text: _Text, log: IssueLog) -> None:
    """Report drift once per location instead of once for each of thousands of pairs."""
    for group, found in zip(text.groups, text.drifts, strict=True):
        if found is None:
            continue
        if found.unequal:
            location, why = first_suspicious_line(group.files, found)
            ours, theirs = (pluralize(lines, "line") for lines in found.path[1:])
            log.add(
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
                    log.add("shift", pair.source_location, shift_message(pair, starts[number]), count=0)


def _learn_profile(groups: Sequence[SourceGroup], languages: LanguagePair) -> CorpusProfile:
    sources: list[str] = []
    targets: list[str] = []
    for group in groups:
        for pair in islice(read_group(group, languages), min(_SAMPLE_OF_GROUP, _SAMPLE - len(sources))):
            source, target = clean(pair.source).text, clean(pair.target).text
            if source and target and all(issue.check in AUTO_FIXED for issue in pair.issues):
                sources.append(source)
                targets.append(target)
    return learn_profile(sources, targets, languages.source, languages.target)


def _read_held_out(sets: Sequence[Sequence[str | Path]], languages: LanguagePair) -> HeldOutTexts:
    held = HeldOutTexts()
    for files in sets:
        for group in group_sources(files) if files else ():
            for pair in read_group(group, languages):
                held.add(pair)
    return held


def _check_all(
    text: _Text, checker: PairChecker, on_progress: Callable[[int], None] | None
) -> tuple[NDArray[numpy.uint8], int, int]:
    """Check all pairs: one bit for each, the number of pairs, and the number used."""
    stream = _with_progress(text.stream(), on_progress)
    packed = bytearray()
    pairs = usable = 0
    while block := list(islice(stream, _BLOCK)):
        used = checker.check_block(block)
        packed += numpy.packbits(used).tobytes()
        pairs += len(block)
        usable += int(used.sum())
    return numpy.frombuffer(bytes(packed), dtype=numpy.uint8), pairs, usable


def _with_progress(pairs: Iterator[RawPair], on_progress: Callable[[int], None] | None) -> Iterator[RawPair]:
    if on_progress is None:
        yield from pairs
        return
    while block := list(islice(pairs, 4096)):
        yield from block
        on_progress(len(block))


def file_states(files: Sequence[str]) -> tuple[FileState, ...]:
    """What shows whether files have changed; unreadable ones are left to their reader to report."""
    states = []
    for file in files:
        try:
            state = Path(file).stat()
        except (OSError, ValueError):
            continue
        states.append((file, state.st_size, state.st_mtime_ns))
    return tuple(states)


def check_unchanged(files: Sequence[str], states: tuple[FileState, ...]) -> None:
    """Check that files are as they were when they were examined.

    Raises:
        UserError: if one has changed.
    """
    if file_states(files) != states:
        raise UserError("the text has changed since it was examined", where=files, hint="Run the command again.")

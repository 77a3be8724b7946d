"""Decide which pairs are used: run every check on every pair, block by block."""

import re
from collections.abc import Callable, Sequence

import numpy
from numpy.typing import NDArray

from pellucid.corpus.cleaning import clean
from pellucid.corpus.config import DataConfig
from pellucid.corpus.doctor.checks import AUTO_FIXED
from pellucid.corpus.doctor.hash_set import HashSet
from pellucid.corpus.doctor.pair_checks import DROP_CHECKS, WARN_CHECKS, CheckContext, PairCheck
from pellucid.corpus.doctor.profile import CorpusProfile
from pellucid.corpus.doctor.report import IssueLog, excerpt
from pellucid.corpus.hashing import hash_text
from pellucid.corpus.pairs import Issue, Location, RawPair

__all__ = ["HeldOutTexts", "OnDropped", "PairChecker"]

OnDropped = Callable[[RawPair, str, str], None]
"""Called with a pair that is left out, the check, and the message."""

_REPORTED_BEFORE = frozenset({"shift", "line-count"})  # reported once for the whole text, not line by line
_NOT_LETTERS = re.compile(r"[\W\d_]+")


class HeldOutTexts:
    """The texts of validation and test files, which training must not see."""

    def __init__(self) -> None:
        self._sources: dict[str, Location] = {}
        self._pairs: dict[tuple[str, str], Location] = {}

    def add(self, pair: RawPair) -> None:
        """Add a pair of a held-out file."""
        source, target = clean(pair.source).text, clean(pair.target).text
        if source and target and not any(issue.check not in AUTO_FIXED for issue in pair.issues):
            self._sources.setdefault(source, pair.source_location)
            self._pairs.setdefault((source, target), pair.source_location)

    def find(self, source: str, target: str) -> str:
        """Describe where a pair or its source is in a held-out file; empty if it is in none."""
        if source not in self._sources:
            return ""
        if (source, target) in self._pairs:
            return f"the pair is also in {self._pairs[source, target]}: {excerpt(source)}"
        return f"the source is also in {self._sources[source]}: {excerpt(source)}"


class PairChecker:
    """Checks blocks of pairs in order, and remembers hashes of the pairs seen before."""

    def __init__(
        self,
        profile: CorpusProfile,
        limits: DataConfig,
        held_out: HeldOutTexts,
        log: IssueLog,
        on_dropped: OnDropped | None,
    ):
        self._context = CheckContext(limits, profile)
        self._log = log
        self._on_dropped = on_dropped
        self._held_out = held_out
        self._skip = frozenset(limits.skip)
        checks = (*DROP_CHECKS, *WARN_CHECKS, *AUTO_FIXED, "leak", "duplicate", "near-duplicate")
        self._drops = {check for check in checks if limits.level(check) == "drop"}
        self._first = [(check, find) for check, find in DROP_CHECKS.items() if check not in self._skip]
        second = [(check, find) for check, find in WARN_CHECKS.items() if check not in self._skip]
        self._second = sorted(second, key=lambda item: item[0] not in self._drops)
        self._known, self._nearly_known = HashSet(), HashSet()

    def check_block(self, pairs: Sequence[RawPair]) -> NDArray[numpy.bool_]:
        """Check a block of pairs; True for each that is used."""
        used = numpy.zeros(len(pairs), dtype=bool)
        left = []
        for number, pair in enumerate(pairs):
            if pair.issues and not self._is_readable(pair):
                continue
            texts = self._clean(pair)
            if texts is not None and self._passes(self._first, pair, *texts) and not self._leaks(pair, *texts):
                left.append((number, *texts))
        if "duplicate" not in self._skip:
            hashes = [hash_text(f"{source}\t{target}") for _, source, target in left]
            left = self._without_known(pairs, left, hashes, self._known, "duplicate")
        if "near-duplicate" not in self._skip:
            hashes = [hash_text(_NOT_LETTERS.sub(" ", f"{source}\n{target}".casefold())) for _, source, target in left]
            left = self._without_known(pairs, left, hashes, self._nearly_known, "near-duplicate")
        for number, source, target in left:
            used[number] = self._passes(self._second, pairs[number], source, target)
        return used

    def _is_readable(self, pair: RawPair) -> bool:
        """Report a reader's issues; the first that is not fixed automatically rules the pair out."""
        for issue in pair.issues:
            if issue.check in _REPORTED_BEFORE:
                self._log.counts[issue.check] += 1
                self._drop(pair, issue)
                return False
            if issue.check not in AUTO_FIXED:
                self._log.add(issue.check, issue.location, f"{issue.message}: {excerpt(pair.source or pair.target)}")
                self._drop(pair, issue)
                return False
        for issue in pair.issues:
            if issue.check not in self._skip:
                self._log.add(issue.check, issue.location, issue.message)
        return True

    def _clean(self, pair: RawPair) -> tuple[str, str] | None:
        """Clean both texts and report what was fixed; None if the user wants such pairs left out."""
        source, source_fixes = clean(pair.source)
        target, target_fixes = clean(pair.target)
        if source_fixes or target_fixes:
            first: dict[str, tuple[Location, str]] = {}
            for location, fixes in ((pair.source_location, source_fixes), (pair.target_location, target_fixes)):
                for check, message in fixes:
                    first.setdefault(check, (location, message))
            for check, (location, message) in first.items():
                if check not in self._skip:
                    self._log.add(check, location, message)
                    if check in self._drops:
                        self._drop(pair, Issue(check, location, message))
                        return None
        return source, target

    def _passes(self, checks: Sequence[tuple[str, PairCheck]], pair: RawPair, source: str, target: str) -> bool:
        """Report what checks find, up to the first that leaves the pair out; True if none does."""
        for check, find in checks:
            finding = find(source, target, self._context)
            if finding is not None:
                self._report(pair, check, *finding)
                if check in self._drops:
                    return False
        return True

    def _leaks(self, pair: RawPair, source: str, target: str) -> bool:
        """Report a held-out text; True if the pair is left out for it."""
        message = "" if "leak" in self._skip else self._held_out.find(source, target)
        if message:
            self._report(pair, "leak", "source", message)
        return bool(message) and "leak" in self._drops

    def _without_known(
        self,
        pairs: Sequence[RawPair],
        left: list[tuple[int, str, str]],
        hashes: list[int],
        known: HashSet,
        check: str,
    ) -> list[tuple[int, str, str]]:
        """Report pairs whose hash occurred before, and keep the others."""
        kept = []
        for item, occurred in zip(left, known.add(numpy.array(hashes, dtype=numpy.uint64)).tolist(), strict=True):
            if occurred:
                self._report(pairs[item[0]], check, "source", f"{excerpt(item[1])} and {excerpt(item[2])}")
                if check in self._drops:
                    continue
            kept.append(item)
        return kept

    def _report(self, pair: RawPair, check: str, side: str, message: str) -> None:
        location, partner = pair.source_location, pair.target_location
        if side == "target":
            location, partner = partner, location
        if location != partner:
            message = f"{message} (partner: {partner})"
        self._log.add(check, location, message)
        if check in self._drops:
            self._drop(pair, Issue(check, location, message))

    def _drop(self, pair: RawPair, issue: Issue) -> None:
        if self._on_dropped is not None:
            self._on_dropped(pair, issue.check, issue.message)

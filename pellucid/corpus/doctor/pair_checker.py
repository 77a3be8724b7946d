"""Which pairs are used: every check on every pair, block by block."""

import re
from collections.abc import Callable, Sequence

import numpy
from numpy.typing import NDArray

from pellucid.corpus.cleaning import clean
from pellucid.corpus.config import DataConfig
from pellucid.corpus.doctor.checks import AUTO_FIXED
from pellucid.corpus.doctor.hash_set import HashSet
from pellucid.corpus.doctor.pair_checks import DROP_CHECKS, WARN_CHECKS, CheckContext
from pellucid.corpus.doctor.profile import CorpusProfile
from pellucid.corpus.doctor.report import IssueLog, excerpt
from pellucid.corpus.pairs import Location
from pellucid.corpus.raw_pairs import Issue, RawPair

__all__ = ["HeldOutTexts", "OnDropped", "PairChecker"]

OnDropped = Callable[[RawPair, str, str], None]
"""Called with a pair that is left out, the check, and the message."""

_TOLD_BEFORE = frozenset({"shift", "line-count"})  # reported once for the whole text, not line by line
_NOT_THE_WORDS = re.compile(r"[\W\d_]+")


class HeldOutTexts:
    """The texts of validation and test files, which training must not see."""

    def __init__(self) -> None:
        self._sources: dict[str, Location] = {}
        self._pairs: dict[tuple[str, str], Location] = {}

    def add(self, pair: RawPair) -> None:
        """Take a pair of a held-out file."""
        source, target = clean(pair.source).text, clean(pair.target).text
        if source and target and not any(issue.check not in AUTO_FIXED for issue in pair.issues):
            self._sources.setdefault(source, pair.source_location)
            self._pairs.setdefault((source, target), pair.source_location)

    def __bool__(self) -> bool:
        return bool(self._sources)

    def holds(self, source: str, target: str) -> str:
        """Say where a pair or its source stands in a held-out file; nothing if it does not."""
        if source not in self._sources:
            return ""
        if (source, target) in self._pairs:
            return f"the pair also stands in {self._pairs[source, target]}: {excerpt(source)}"
        return f"the source also stands in {self._sources[source]}: {excerpt(source)}"


class PairChecker:
    """Judges blocks of pairs in order, and remembers what has stood before."""

    def __init__(
        self,
        profile: CorpusProfile,
        limits: DataConfig,
        held: HeldOutTexts,
        log: IssueLog,
        on_dropped: OnDropped | None,
    ):
        self._context = CheckContext(limits, profile)
        self._log = log
        self._on_dropped = on_dropped
        self._held_out = held
        self._skip = frozenset(limits.skip)
        checks = (*DROP_CHECKS, *WARN_CHECKS, *AUTO_FIXED, "leak", "duplicate", "near-duplicate")
        self._drops = {check for check in checks if limits.level(check) == "drop"}
        self._first = [
            (check, find) for check, find in DROP_CHECKS.items() if check not in self._skip or check == "blank"
        ]
        suspicions = [(check, find) for check, find in WARN_CHECKS.items() if check not in self._skip]
        self._second = sorted(suspicions, key=lambda item: item[0] not in self._drops)
        self._known, self._nearly_known = HashSet(), HashSet()

    def check_block(self, pairs: Sequence[RawPair]) -> NDArray[numpy.bool_]:
        """Return for each pair of a block whether it is used."""
        used = numpy.zeros(len(pairs), dtype=bool)
        left = []
        for number, pair in enumerate(pairs):
            if pair.issues and not self._readable(pair):
                continue
            texts = self._cleaned(pair)
            if texts is not None and self._within_limits(pair, *texts):
                left.append((number, *texts))
        if "duplicate" not in self._skip:
            left = self._without_seen(pairs, left, self._known, "duplicate")
        if "near-duplicate" not in self._skip:
            left = self._without_seen(pairs, left, self._nearly_known, "near-duplicate")
        for number, source, target in left:
            used[number] = self._unsuspicious(pairs[number], source, target)
        return used

    def _readable(self, pair: RawPair) -> bool:
        """Report a reader's faults; the first that cannot be mended rules the pair out."""
        for issue in pair.issues:
            if issue.check in _TOLD_BEFORE:
                self._log.counts[issue.check] += 1
                self._drop(pair, issue)
                return False
            if issue.check not in AUTO_FIXED:
                self._log.note(issue.check, issue.location, f"{issue.message}: {excerpt(pair.source or pair.target)}")
                self._drop(pair, issue)
                return False
        for issue in pair.issues:
            if issue.check not in self._skip:
                self._log.note(issue.check, issue.location, issue.message)
        return True

    def _cleaned(self, pair: RawPair) -> tuple[str, str] | None:
        """Return both texts without what is no part of them, or None if the user wants such pairs left out."""
        source, ours = clean(pair.source)
        target, theirs = clean(pair.target)
        if ours or theirs:
            told: dict[str, tuple[Location, str]] = {}
            for location, fixed in ((pair.source_location, ours), (pair.target_location, theirs)):
                for check, message in fixed:
                    told.setdefault(check, (location, message))
            for check, (location, message) in told.items():
                if check not in self._skip:
                    self._log.note(check, location, message)
                    if check in self._drops:
                        self._drop(pair, Issue(check, location, message))
                        return None
        return source, target

    def _within_limits(self, pair: RawPair, source: str, target: str) -> bool:
        for check, find in self._first:
            finding = find(source, target, self._context)
            if finding is not None:
                self._note(pair, check, *finding)
                if check in self._drops or check == "blank":
                    return False
        if self._held_out and "leak" not in self._skip:
            message = self._held_out.holds(source, target)
            if message:
                self._note(pair, "leak", "source", message)
                return "leak" not in self._drops
        return True

    def _without_seen(
        self, pairs: Sequence[RawPair], left: list[tuple[int, str, str]], seen: HashSet, check: str
    ) -> list[tuple[int, str, str]]:
        """Report pairs that stood before, and return those to keep."""
        if check == "duplicate":
            hashes = [hash((source, target)) for _, source, target in left]
        else:
            hashes = [hash(_NOT_THE_WORDS.sub(" ", f"{source}\n{target}".casefold())) for _, source, target in left]
        before = seen.add(numpy.array(hashes, dtype=numpy.int64))
        kept = []
        for item, again in zip(left, before.tolist(), strict=True):
            if again:
                self._note(pairs[item[0]], check, "source", f"{excerpt(item[1])} and {excerpt(item[2])}")
                if check in self._drops:
                    continue
            kept.append(item)
        return kept

    def _unsuspicious(self, pair: RawPair, source: str, target: str) -> bool:
        for check, find in self._second:
            finding = find(source, target, self._context)
            if finding is not None:
                self._note(pair, check, *finding)
                if check in self._drops:
                    return False
        return True

    def _note(self, pair: RawPair, check: str, side: str, message: str) -> None:
        location, partner = pair.source_location, pair.target_location
        if side == "target":
            location, partner = partner, location
        if location != partner:
            message = f"{message} (partner: {partner})"
        self._log.note(check, location, message)
        if check in self._drops or check == "blank":
            self._drop(pair, Issue(check, location, message))

    def _drop(self, pair: RawPair, issue: Issue) -> None:
        if self._on_dropped is not None:
            self._on_dropped(pair, issue.check, issue.message)

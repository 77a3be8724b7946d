"""Which pairs are used: every check on every pair, block by block."""

import re
from collections.abc import Callable, Sequence

import numpy
from numpy.typing import NDArray

from pellucid.corpus.cleaning import clean
from pellucid.corpus.config import DataConfig
from pellucid.corpus.doctor.checks import MENDED
from pellucid.corpus.doctor.pair_checks import LIMITS, SUSPICIONS, Measure
from pellucid.corpus.doctor.profile import Profile
from pellucid.corpus.doctor.report import Tally, excerpt
from pellucid.corpus.doctor.seen import Seen
from pellucid.corpus.pairs import Place
from pellucid.corpus.raw_pairs import Fault, RawPair

__all__ = ["HeldTexts", "Judge", "OnDropped"]

OnDropped = Callable[[RawPair, str, str], None]
"""Called with a pair that is left out, the check, and the message."""

_TOLD_BEFORE = frozenset({"shift", "line-count"})  # reported once for the whole text, not line by line
_NOT_THE_WORDS = re.compile(r"[\W\d_]+")


class HeldTexts:
    """The texts of validation and test files, which training must not see."""

    def __init__(self) -> None:
        self._sources: dict[str, Place] = {}
        self._pairs: dict[tuple[str, str], Place] = {}

    def add(self, pair: RawPair) -> None:
        """Take a pair of a held-out file."""
        source, target = clean(pair.source).text, clean(pair.target).text
        if source and target and not any(fault.check not in MENDED for fault in pair.faults):
            self._sources.setdefault(source, pair.source_place)
            self._pairs.setdefault((source, target), pair.source_place)

    def __bool__(self) -> bool:
        return bool(self._sources)

    def holds(self, source: str, target: str) -> str:
        """Say where a pair or its source stands in a held-out file; nothing if it does not."""
        if source not in self._sources:
            return ""
        if (source, target) in self._pairs:
            return f"the pair also stands in {self._pairs[source, target]}: {excerpt(source)}"
        return f"the source also stands in {self._sources[source]}: {excerpt(source)}"


class Judge:
    """Judges blocks of pairs in order, and remembers what has stood before."""

    def __init__(self, usual: Profile, limits: DataConfig, held: HeldTexts, tally: Tally, on_dropped: OnDropped | None):
        self._measure = Measure(limits, usual)
        self._tally = tally
        self._on_dropped = on_dropped
        self._held = held
        self._skip = frozenset(limits.skip)
        self._drops = {check for check in (*LIMITS, *SUSPICIONS, "leak", "duplicate", "near-duplicate", *MENDED)
                       if limits.level(check) == "drop"}  # fmt: skip
        self._first = [(check, find) for check, find in LIMITS.items() if check not in self._skip or check == "blank"]
        suspicions = [(check, find) for check, find in SUSPICIONS.items() if check not in self._skip]
        self._second = sorted(suspicions, key=lambda item: item[0] not in self._drops)
        self._seen, self._nearly_seen = Seen(), Seen()

    def judge(self, pairs: Sequence[RawPair]) -> NDArray[numpy.bool_]:
        """Return for each pair of a block whether it is used."""
        used = numpy.zeros(len(pairs), dtype=bool)
        left = []
        for number, pair in enumerate(pairs):
            if pair.faults and not self._readable(pair):
                continue
            texts = self._cleaned(pair)
            if texts is not None and self._within_limits(pair, *texts):
                left.append((number, *texts))
        if "duplicate" not in self._skip:
            left = self._without_seen(pairs, left, self._seen, "duplicate")
        if "near-duplicate" not in self._skip:
            left = self._without_seen(pairs, left, self._nearly_seen, "near-duplicate")
        for number, source, target in left:
            used[number] = self._unsuspicious(pairs[number], source, target)
        return used

    def _readable(self, pair: RawPair) -> bool:
        """Report a reader's faults; the first that cannot be mended rules the pair out."""
        for fault in pair.faults:
            if fault.check in _TOLD_BEFORE:
                self._tally.counts[fault.check] += 1
                self._drop(pair, fault)
                return False
            if fault.check not in MENDED:
                self._tally.note(fault.check, fault.place, f"{fault.message}: {excerpt(pair.source or pair.target)}")
                self._drop(pair, fault)
                return False
        for fault in pair.faults:
            if fault.check not in self._skip:
                self._tally.note(fault.check, fault.place, fault.message)
        return True

    def _cleaned(self, pair: RawPair) -> tuple[str, str] | None:
        """Return both texts without what is no part of them, or None if the user wants such pairs left out."""
        source, ours = clean(pair.source)
        target, theirs = clean(pair.target)
        if ours or theirs:
            told: dict[str, tuple[Place, str]] = {}
            for place, mended in ((pair.source_place, ours), (pair.target_place, theirs)):
                for check, message in mended:
                    told.setdefault(check, (place, message))
            for check, (place, message) in told.items():
                if check not in self._skip:
                    self._tally.note(check, place, message)
                    if check in self._drops:
                        self._drop(pair, Fault(check, place, message))
                        return None
        return source, target

    def _within_limits(self, pair: RawPair, source: str, target: str) -> bool:
        for check, find in self._first:
            finding = find(source, target, self._measure)
            if finding is not None:
                self._note(pair, check, *finding)
                if check in self._drops or check == "blank":
                    return False
        if self._held and "leak" not in self._skip:
            message = self._held.holds(source, target)
            if message:
                self._note(pair, "leak", "source", message)
                return "leak" not in self._drops
        return True

    def _without_seen(
        self, pairs: Sequence[RawPair], left: list[tuple[int, str, str]], seen: Seen, check: str
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
            finding = find(source, target, self._measure)
            if finding is not None:
                self._note(pair, check, *finding)
                if check in self._drops:
                    return False
        return True

    def _note(self, pair: RawPair, check: str, side: str, message: str) -> None:
        place, partner = pair.source_place, pair.target_place
        if side == "target":
            place, partner = partner, place
        if place != partner:
            message = f"{message} (partner: {partner})"
        self._tally.note(check, place, message)
        if check in self._drops or check == "blank":
            self._drop(pair, Fault(check, place, message))

    def _drop(self, pair: RawPair, fault: Fault) -> None:
        if self._on_dropped is not None:
            self._on_dropped(pair, fault.check, fault.message)

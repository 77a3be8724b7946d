"""How a verdict follows from numbers: tests against thresholds that stand before the run.

A rule's tests all say the statement. Those of `holds` say it as far as it can be expected to hold: everywhere, or under
the rule's condition. Those of `beyond` say it where the condition is not met. So

    holds         all of `holds` pass, and all of `beyond`
    holds-if      all of `holds` pass, and one of `beyond` fails clearly
    refuted       one of `holds` fails clearly
    not-settled   anything else: an interval lies across a threshold

A test passes when the whole interval of its number is on the right side of the threshold, and fails clearly when the
whole interval is on the other side of `fails_at`, which is the threshold unless a margin is set between them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pellucid.claims.bilingual import Text
from pellucid.claims.evidence import Estimate

__all__ = ["Criterion", "JudgedCriterion", "Rule", "Ruling", "Verdict", "at_least", "at_most"]

Verdict = Literal["holds", "holds-if", "refuted", "not-settled", "not-run"]


@dataclass(frozen=True)
class Criterion:
    """A number against a threshold.

    Attributes:
        number: the name of what is measured.
        relation: whether it must be at most, or at least, the threshold.
        threshold: where it passes.
        why: why the threshold is there, and what the number is.
        fails_at: where it fails; what lies between the two settles nothing.
    """

    number: str
    relation: Literal["at most", "at least"]
    threshold: float
    why: Text
    fails_at: float

    def passed(self, measured: Estimate) -> bool | None:
        """Return whether the number is as the statement has it; None if the numbers do not decide."""
        if math.isnan(measured.value):
            return None
        # Turned round, "at least" is "at most".
        sign = 1 if self.relation == "at most" else -1
        worst, best = sorted((sign * measured.low, sign * measured.high), reverse=True)
        if worst <= sign * self.threshold:
            return True
        return False if best > sign * self.fails_at else None


class JudgedCriterion(NamedTuple):
    """A test and what came of it."""

    test: Criterion
    measured: Estimate
    passed: bool | None
    beyond: bool


class Ruling(NamedTuple):
    """A verdict and the tests it follows from."""

    verdict: Verdict
    judged: tuple[JudgedCriterion, ...]


@dataclass(frozen=True)
class Rule:
    """The tests of a statement.

    Attributes:
        holds: what the statement says, everywhere or under the condition.
        beyond: what it says where the condition is not met.
        condition: under what the tests of `holds` were made.
        instead: the right statement, where the one told may fail: it is reported with a verdict of `refuted`.
    """

    holds: tuple[Criterion, ...]
    beyond: tuple[Criterion, ...] = ()
    condition: Text | None = None
    instead: Text | None = None

    def __post_init__(self) -> None:
        assert self.holds, "a rule without a test cannot fail"
        assert bool(self.beyond) == (self.condition is not None), "a condition has two sides"

    @property
    def tests(self) -> tuple[Criterion, ...]:
        """All tests."""
        return self.holds + self.beyond

    def judge(self, numbers: Mapping[str, Estimate]) -> Ruling:
        """Return the verdict on what was measured."""
        within = [
            JudgedCriterion(test, numbers[test.number], test.passed(numbers[test.number]), False) for test in self.holds
        ]
        beyond = [
            JudgedCriterion(test, numbers[test.number], test.passed(numbers[test.number]), True) for test in self.beyond
        ]
        return Ruling(_verdict([one.passed for one in within], [one.passed for one in beyond]), (*within, *beyond))


def _verdict(within: list[bool | None], beyond: list[bool | None]) -> Verdict:
    if False in within:
        return "refuted"
    if None in within:
        return "not-settled"
    if False in beyond:
        return "holds-if"
    return "not-settled" if None in beyond else "holds"


def at_most(number: str, threshold: float, why: Text, fails_at: float | None = None) -> Criterion:
    """Return a test that a number is at most `threshold`."""
    return Criterion(number, "at most", threshold, why, threshold if fails_at is None else fails_at)


def at_least(number: str, threshold: float, why: Text, fails_at: float | None = None) -> Criterion:
    """Return a test that a number is at least `threshold`."""
    return Criterion(number, "at least", threshold, why, threshold if fails_at is None else fails_at)

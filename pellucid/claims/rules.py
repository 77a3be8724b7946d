"""How a verdict follows from numbers: criteria with thresholds that are fixed before the run.

Every criterion expresses the statement. Those of `criteria` express it as far as it can be expected to hold: always, or
under the claim's condition. Those of `outside` express it where the condition is not met. So

    holds         all of `criteria` pass, and all of `outside`
    holds-if      all of `criteria` pass, and one of `outside` fails clearly
    refuted       one of `criteria` fails clearly
    not-settled   anything else: an interval crosses a threshold

A criterion passes when the whole interval of its number is on the right side of the threshold. It fails clearly when
the whole interval is on the other side of `fails_at`, which is the threshold unless a margin is set between the two.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pellucid.claims.evidence import Estimate

__all__ = ["VERDICTS", "Criterion", "JudgedCriterion", "Rule", "Ruling", "Verdict", "at_least", "at_most"]

Verdict = Literal["holds", "holds-if", "refuted", "not-settled", "not-run"]
VERDICTS: tuple[Verdict, ...] = ("holds", "holds-if", "refuted", "not-settled", "not-run")


@dataclass(frozen=True)
class Criterion:
    """A threshold for a number.

    Attributes:
        number: the name of the number.
        relation: whether it must be at most, or at least, the threshold.
        threshold: where it passes.
        fails_at: where it fails; between the two it is undecided.
    """

    number: str
    relation: Literal["at most", "at least"]
    threshold: float
    fails_at: float

    def passed(self, estimate: Estimate) -> bool | None:
        """Decide whether the number agrees with the statement; None if the interval does not decide it."""
        if math.isnan(estimate.value):
            return None
        # With the sign reversed, "at least" becomes "at most".
        sign = 1 if self.relation == "at most" else -1
        worst, best = sorted((sign * estimate.low, sign * estimate.high), reverse=True)
        if worst <= sign * self.threshold:
            return True
        return False if best > sign * self.fails_at else None


class JudgedCriterion(NamedTuple):
    """A criterion, the estimate it was applied to and the result.

    Attributes:
        outside: whether it is about the case in which the claim's condition is not met.
    """

    criterion: Criterion
    estimate: Estimate
    passed: bool | None
    outside: bool


class Ruling(NamedTuple):
    """A verdict and the criteria it follows from."""

    verdict: Verdict
    judged: tuple[JudgedCriterion, ...]


@dataclass(frozen=True)
class Rule:
    """The criteria of a statement.

    Attributes:
        criteria: what the statement says, always or under the claim's condition.
        outside: what it says where the condition is not met.
    """

    criteria: tuple[Criterion, ...]
    outside: tuple[Criterion, ...] = ()

    def __post_init__(self) -> None:
        assert self.criteria, "a rule without a criterion cannot fail"

    @property
    def all_criteria(self) -> tuple[Criterion, ...]:
        """The criteria on both sides of the condition."""
        return self.criteria + self.outside

    def judge(self, numbers: Mapping[str, Estimate]) -> Ruling:
        """Derive the verdict from what was measured."""
        within = [_judge(criterion, numbers, outside=False) for criterion in self.criteria]
        outside = [_judge(criterion, numbers, outside=True) for criterion in self.outside]
        return Ruling(_verdict([one.passed for one in within], [one.passed for one in outside]), (*within, *outside))


def _judge(criterion: Criterion, numbers: Mapping[str, Estimate], *, outside: bool) -> JudgedCriterion:
    estimate = numbers[criterion.number]
    return JudgedCriterion(criterion, estimate, criterion.passed(estimate), outside)


def _verdict(within: list[bool | None], outside: list[bool | None]) -> Verdict:
    if False in within:
        return "refuted"
    if None in within:
        return "not-settled"
    if False in outside:
        return "holds-if"
    return "not-settled" if None in outside else "holds"


def at_most(number: str, threshold: float, fails_at: float | None = None) -> Criterion:
    """Require that a number is at most `threshold`."""
    return Criterion(number, "at most", threshold, threshold if fails_at is None else fails_at)


def at_least(number: str, threshold: float, fails_at: float | None = None) -> Criterion:
    """Require that a number is at least `threshold`."""
    return Criterion(number, "at least", threshold, threshold if fails_at is None else fails_at)

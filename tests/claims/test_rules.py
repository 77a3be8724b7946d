"""How verdicts follow from numbers; and that every rule of the lab can fail."""

import math
from collections.abc import Mapping

import pytest

from pellucid.claims import Claim, Criterion, Estimate, Rule, all_claims
from pellucid.claims.evidence import exact_values, mean_over_seeds, share_over_seeds
from pellucid.claims.rules import at_least, at_most

CLAIMS = all_claims()


def spread(value: float, reach: float) -> dict[str, Estimate]:
    return {"x": Estimate(value, value - reach, value + reach, 5)}


@pytest.mark.parametrize(
    ("numbers", "verdict"),
    [
        (exact_values(x=1), "holds"),
        (exact_values(x=2), "holds"),
        (exact_values(x=2.5), "not-settled"),
        (exact_values(x=3.5), "refuted"),
        (exact_values(x=math.nan), "not-settled"),
        (spread(1, 0.5), "holds"),
        (spread(1.9, 0.5), "not-settled"),
        (spread(3.2, 0.5), "not-settled"),
        (spread(4, 0.5), "refuted"),
        ({"x": mean_over_seeds([1.0])}, "not-settled"),
    ],
)
def test_a_verdict_needs_the_whole_interval(numbers: Mapping[str, Estimate], verdict: str) -> None:
    assert Rule((at_most("x", 2, fails_at=3),)).judge(numbers).verdict == verdict
    turned = {name: Estimate(-m.value, -m.high, -m.low, m.n) for name, m in numbers.items()}
    assert Rule((at_least("x", -2, fails_at=-3),)).judge(turned).verdict == verdict


@pytest.mark.parametrize(
    ("within", "outside", "verdict"),
    [
        (0, 0, "holds"),
        (0, 9, "holds-if"),
        (9, 9, "refuted"),
        (9, 0, "refuted"),
        (2.5, 9, "not-settled"),
        (0, 2.5, "not-settled"),
    ],
)
def test_a_condition_is_measured_on_both_sides(within: float, outside: float, verdict: str) -> None:
    tests = at_most("within", 2, fails_at=3), at_most("outside", 2, fails_at=3)
    rule = Rule(criteria=tests[:1], outside=tests[1:])
    ruling = rule.judge(exact_values(within=within, outside=outside))
    assert ruling.verdict == verdict
    assert [one.outside for one in ruling.judged] == [False, True]


def test_the_interval_over_seeds_is_students() -> None:
    mean = mean_over_seeds([1.0, 2.0, 3.0])
    assert mean.value == 2 and mean.n == 3
    assert mean.high - 2 == pytest.approx(4.302653 / math.sqrt(3))  # deviation 1, two degrees of freedom


def test_the_interval_over_many_seeds_is_students_too() -> None:
    values = [0.0, 1.0] * 15
    mean = mean_over_seeds(values)
    deviation = math.sqrt(sum((value - 0.5) ** 2 for value in values) / 29)
    assert mean.high - 0.5 == pytest.approx(2.045230 * deviation / math.sqrt(30))  # 29 degrees of freedom, not 1.96


def test_the_interval_of_a_share_stays_within_0_and_1() -> None:
    assert mean_over_seeds([0.2, 0.9, 0.95]).high > 1
    assert share_over_seeds([0.2, 0.9, 0.95]).high == 1
    assert share_over_seeds([0.1, 0.0, 0.4]).low == 0
    assert share_over_seeds([0.4, 0.5, 0.6]) == mean_over_seeds([0.4, 0.5, 0.6])


def number_at(test: Criterion, stated: bool) -> Estimate:
    """A number well on the side of the statement, or on the other."""
    edge = test.threshold if stated else test.fails_at
    away = (-1 if test.relation == "at most" else 1) * (1 if stated else -1)
    value = edge + away * (1 + abs(edge))
    return Estimate(value, value, value, 3)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_evidence_of_the_opposite_gives_another_verdict(claim: Claim) -> None:
    stated = {test.number: number_at(test, True) for test in claim.rule.all_criteria}
    assert claim.rule.judge(stated).verdict == "holds"
    for test in claim.rule.all_criteria:
        opposite = claim.rule.judge({**stated, test.number: number_at(test, False)}).verdict
        assert opposite == ("holds-if" if test in claim.rule.outside else "refuted")
        unsure = Estimate(0.0, -math.inf, math.inf, 1)
        assert claim.rule.judge({**stated, test.number: unsure}).verdict == "not-settled"

"""Outcomes on disk: what is read again is what was written, and the verdict is today's."""

import dataclasses
import json
import math
from pathlib import Path

from pellucid.claims import Rule, find_claims, run_claims
from pellucid.claims.evidence import Estimate, Evidence, Figure, exact_values
from pellucid.claims.lab import Outcome, judge_outcome
from pellucid.claims.report import markdown
from pellucid.claims.rules import at_most
from pellucid.claims.stored import read_outcomes, write_outcomes
from tests.conftest import ROOT


def test_a_report_of_stored_outcomes_is_that_of_the_run(tmp_path: Path) -> None:
    outcomes = list(run_claims(find_claims(["M5", "S4", "E10", "R1"]), quick=True))
    write_outcomes(tmp_path / "outcomes.jsonl", outcomes)
    again = read_outcomes(tmp_path / "outcomes.jsonl")
    assert [one.claim.id for one in again] == ["E10", "M5", "S4", "R1"]  # in the order of the claims
    in_order = [next(one for one in outcomes if one.claim == each.claim) for each in again]
    assert markdown(again, "zh") == markdown(in_order, "zh")
    assert markdown(again, "en") == markdown(in_order, "en")


def test_numbers_that_are_not_finite_come_back(tmp_path: Path) -> None:
    (claim,) = find_claims(["M5"])
    (outcome,) = run_claims([claim], quick=True)
    assert outcome.evidence is not None
    odd = {name: Estimate(math.nan, -math.inf, math.inf, 1) for name in outcome.evidence.numbers}
    evidence = dataclasses.replace(
        outcome.evidence, numbers=odd, records=[{"x": math.inf, "many": [1.0, math.nan], "none": None, "name": "inf"}]
    )
    stored = judge_outcome(claim, evidence, None, quick=True, seed=3, seconds=1.5)
    write_outcomes(tmp_path / "o.jsonl", [stored])
    (again,) = read_outcomes(tmp_path / "o.jsonl")
    assert again.verdict == "not-settled" and again.seed == 3 and again.quick and again.evidence is not None
    assert all(
        math.isnan(m.value) and (m.low, m.high) == (-math.inf, math.inf) for m in again.evidence.numbers.values()
    )
    (record,) = again.evidence.records
    assert record["x"] == math.inf and math.isnan(record["many"][1]) and record["none"] is None
    assert record["name"] == "inf"
    assert again.evidence.figure == Figure(**{**vars(outcome.evidence.figure)})


def test_no_verdict_is_stored(tmp_path: Path) -> None:
    outcomes: list[Outcome] = list(run_claims(find_claims(["M5"]), quick=True))
    write_outcomes(tmp_path / "o.jsonl", outcomes)
    stored = json.loads((tmp_path / "o.jsonl").read_text(encoding="utf-8"))
    assert "verdict" not in stored
    impossible = Rule((at_most(outcomes[0].judged[0].criterion.number, -1.0),), outcomes[0].claim.rule.outside)
    changed = dataclasses.replace(outcomes[0].claim, rule=impossible)
    again = judge_outcome(changed, outcomes[0].evidence, None, quick=True, seed=1, seconds=0.0)
    assert again.verdict == "refuted" != outcomes[0].verdict


def test_a_shortened_training_cannot_refute() -> None:
    (trained,), (exact,) = find_claims(["T5"]), find_claims(["K1"])
    for claim, quick, verdict in (
        (trained, True, "not-settled"),
        (trained, False, "refuted"),
        (exact, True, "refuted"),
    ):
        against = {
            test.number: exact_values(x=test.fails_at + (1 if test.relation == "at most" else -1))["x"]
            for test in claim.rule.all_criteria
        }
        evidence = Evidence(against, [{"x": 1, "y": 1}], Figure("line", "x", "y"))
        found = judge_outcome(claim, evidence, None, quick=quick, seed=1, seconds=0.0)
        assert found.verdict == verdict
        assert found.judged[0].passed is False


def test_what_a_new_rule_cannot_judge_counts_as_not_run(tmp_path: Path) -> None:
    write_outcomes(tmp_path / "o.jsonl", run_claims(find_claims(["M5", "S4", "E10"])))
    stored = (tmp_path / "o.jsonl").read_text(encoding="utf-8")
    (tmp_path / "o.jsonl").write_text(stored.replace("third_entry", "another_entry"), encoding="utf-8")
    assert [one.claim.id for one in read_outcomes(tmp_path / "o.jsonl")] == ["E10", "M5"]


def test_the_interval_of_a_stored_share_stays_within_0_and_1() -> None:
    for outcome in read_outcomes(ROOT / "docs" / "claims" / "outcomes.jsonl"):
        for name, number in outcome.evidence.numbers.items() if outcome.evidence is not None else ():
            if name.startswith(("accuracy", "share_", "found_", "exact_match_")):
                assert number.low >= 0 and number.high <= 1, (outcome.claim.id, name)

"""The whole quick lab: a verdict that changes is a mistake in the model code or in the experiment.

The exact claims are in `test_exact_claims.py`; here are those that train something, with shortened trainings. What is
not settled here is settled by the full lab, if at all. One thread, so that sums are always in the same order.
"""

from collections.abc import Iterator

import pytest
import torch

from pellucid.claims import all_claims, find_claims, run_claim
from pellucid.claims.claim import FIRST_SEED, Setup
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.training import t5_aligned_meanings
from pellucid.claims.translation_retrieval import measure_retrieval
from tests.claims.test_exact_claims import KNOWN

TRAINED = {
    "E5": "holds", "E6": "not-settled", "E8": "holds", "E10": "not-run", "E12": "not-settled", "E13": "holds",
    "E14": "not-settled", "E15": "holds", "E16": "holds",
    "P5": "holds", "P6": "not-settled", "P7": "holds-if", "P10": "not-settled",
    "A6": "holds", "A7": "holds", "A8": "not-settled", "A9": "not-settled", "A10": "not-settled",
    "S6": "not-settled", "H2": "not-settled", "H3": "not-settled", "H4": "holds", "H5": "not-settled",
    "R5": "holds", "R6": "not-settled", "K3": "not-settled",
    "T2": "not-settled", "T3": "not-settled", "T5": "holds-if", "T6": "not-settled", "T7": "not-settled",
    "T8": "holds",
}  # fmt: skip


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("name", TRAINED)
def test_a_verdict_of_the_quick_lab_is_what_it_was(name: str) -> None:
    (claim,) = find_claims([name])
    outcome = run_claim(claim, quick=True)
    assert outcome.verdict == TRAINED[name], [(one.criterion.number, one.estimate) for one in outcome.judged]
    if outcome.evidence is not None:
        assert outcome.evidence.records
        for record in outcome.evidence.records:
            assert {outcome.evidence.figure.x, outcome.evidence.figure.y} <= set(record)


def test_every_claim_is_in_the_quick_lab_of_the_tests() -> None:
    assert set(TRAINED).isdisjoint(KNOWN)
    assert {*TRAINED, *KNOWN} == {claim.id for claim in all_claims()}


def test_an_untrained_translator_aligns_nothing() -> None:
    (claim,) = find_claims(["T5"])
    evidence = t5_aligned_meanings.measure(Setup(seeds=2, size=50))
    assert claim.rule.judge(evidence.numbers).verdict == "refuted"


def test_a_rotation_learned_from_mismatched_pairs_retrieves_no_translations() -> None:
    trained = demo_translator(150, FIRST_SEED)
    assert measure_retrieval(trained, 100, shuffled=True).rotated < 0.1 < measure_retrieval(trained, 100).rotated

"""The list of claims: all of them, each told fully in both languages."""

import re

import pytest

from pellucid.claims import Claim, all_claims, find_claims
from pellucid.claims.names import CHINESE as CHINESE_NAMES
from pellucid.claims.names import name_of
from pellucid.errors import UsageError
from tests.conftest import ROOT

CLAIMS = all_claims()
COUNTS = {"E": 16, "M": 6, "P": 10, "A": 10, "S": 6, "H": 5, "R": 6, "K": 4, "T": 8}
CHINESE = re.compile("[\u3000-\u303f\u4e00-\u9fff]")


def test_every_statement_has_its_claim() -> None:
    assert [claim.id for claim in CLAIMS] == [
        f"{letter}{n + 1}" for letter, count in COUNTS.items() for n in range(count)
    ]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_claim_is_told_in_both_languages(claim: Claim) -> None:
    texts = [claim.statement, claim.measured, claim.reading, *(test.why for test in claim.rule.tests)]
    texts += [text for text in (claim.rule.condition, claim.rule.instead) if text is not None]
    for text in texts:
        assert text.en and CHINESE.search(text.zh) and not text.en.startswith(" ")
        assert "  " not in text.en, text.en
    assert len(claim.reading.en) > 150 and len(claim.reading.zh) > 60
    assert claim.equation and claim.sources
    assert len({test.number for test in claim.rule.tests}) == len(claim.rule.tests)
    assert all(name_of(test.number, "en") and CHINESE_NAMES[test.number] for test in claim.rule.tests)


def test_no_verdict_is_written_in_an_experiment() -> None:
    for module in (ROOT / "pellucid" / "claims").rglob("[a-z][0-9]*_*.py"):
        text = module.read_text(encoding="utf-8")
        assert not re.search(r"""["'](refuted|holds-if|not-settled|holds)["']""", text), module.name


def test_claims_are_found_by_id_and_by_topic() -> None:
    assert [claim.id for claim in find_claims(["k1", "M", "K1"])] == ["K1", "M1", "M2", "M3", "M4", "M5", "M6"]
    assert find_claims([]) == CLAIMS
    with pytest.raises(UsageError, match="there is no claim K9"):
        find_claims(["K9"])

"""The list of claims: complete, and told in both languages."""

import re

import pytest

from pellucid.claims import Claim, all_claims, find_claims
from pellucid.claims.catalogue import TOPICS
from pellucid.claims.texts import Text, shared_texts
from pellucid.errors import UsageError
from tests.conftest import ROOT

CLAIMS = all_claims()
CHINESE = re.compile("[\u3000-\u303f\u4e00-\u9fff]")


def test_the_claims_of_each_topic_are_numbered_from_1() -> None:
    for letter in TOPICS:
        numbers = [int(claim.id[1:]) for claim in CLAIMS if claim.id[0] == letter]
        assert numbers == list(range(1, len(numbers) + 1)), letter
        assert numbers, letter


def test_every_experiment_has_its_texts_and_every_text_its_experiment() -> None:
    folder = ROOT / "pellucid" / "claims"
    experiments = {path.with_suffix("") for path in folder.glob("*/[a-z][0-9]*_*.py")}
    assert experiments == {path.with_suffix("") for path in folder.glob("*/*.toml")}
    assert len(experiments) == len(CLAIMS)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_claim_is_told_in_both_languages(claim: Claim) -> None:
    texts = claim.texts
    told = [texts.statement, texts.measured, texts.reading, *texts.messages.values()]
    told += [texts.reason(criterion.number) for criterion in claim.rule.all_criteria]
    told += [text for text in (texts.condition, texts.instead) if text is not None]
    for text in told:
        assert_written_well(text)
        assert CHINESE.search(text.zh), text.zh
    assert len(texts.reading.en) > 150 and len(texts.reading.zh) > 60
    assert texts.equation and texts.sources
    for name, text in texts.names.items():
        assert text.en.strip() == text.en != "" and text.zh.strip() == text.zh != "" and "?" not in text.zh
        assert shared_texts().names.get(name) != text, f"{name} repeats a shared name"
    for word, chinese in texts.words.items():
        assert chinese.strip() == chinese != "" and word.strip() == word
        assert shared_texts().words.get(word) != chinese, f"{word} repeats a shared word"


def assert_written_well(text: Text) -> None:
    for words in (text.en, text.zh):
        assert words.strip() == words != "" and "  " not in words and "\n" not in words, words
    assert not re.search("[，。：；（）]", text.en), text.en
    assert not re.search("[\u4e00-\u9fff）] ?[:.,;](?!\\S)", text.zh), text.zh
    assert not re.search("[\u4e00-\u9fff，。：；] +[\u4e00-\u9fff，。：；]", text.zh), text.zh


def test_no_verdict_is_written_in_an_experiment() -> None:
    for module in (ROOT / "pellucid" / "claims").rglob("[a-z][0-9]*_*.py"):
        text = module.read_text(encoding="utf-8")
        assert not re.search(r"""["'](refuted|holds-if|not-settled|holds)["']""", text), module.name


def test_an_experiment_holds_no_prose() -> None:
    for module in (ROOT / "pellucid" / "claims").rglob("[a-z][0-9]*_*.py"):
        code = re.sub(r'"{3}.*?"{3}|#.*', "", module.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.search("[，：；（）]", code), module.name


def test_claims_are_found_by_id_and_by_topic() -> None:
    assert [claim.id for claim in find_claims(["k1", "M", "K1"])] == ["K1", "M1", "M2", "M3", "M4", "M5", "M6"]
    assert find_claims([]) == CLAIMS
    with pytest.raises(UsageError, match="unknown claim K9"):
        find_claims(["K9"])

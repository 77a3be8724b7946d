"""What is handed out: the command, JSON, Markdown, and a page that needs nothing else."""

import json
import re
from pathlib import Path

import pytest

from pellucid.claims import all_claims, find_claims, run_claims
from pellucid.claims.charts import specification, svg
from pellucid.claims.report import markdown, page
from pellucid.claims.stored import read_outcomes
from pellucid.claims.texts import LANGUAGES
from tests.claims.whole_report import write_report
from tests.conftest import ROOT, Run

SECTIONS = re.compile(r'\[words\] "(capital-|currency|city-|family|gram\d)')  # of questions-words.txt
CHOSEN = ["S4", "H1", "M2", "E10"]  # refuted, holds-if, holds, not-run
OUTCOMES = list(run_claims(find_claims(CHOSEN), quick=True))


def test_the_verdicts_are_of_every_kind() -> None:
    assert [outcome.verdict for outcome in OUTCOMES] == ["refuted", "holds-if", "holds", "not-run"]
    assert OUTCOMES[3].condition is not None and "text.txt" in OUTCOMES[3].condition.en


def test_json_says_what_others_rely_on() -> None:
    told = json.loads(json.dumps([outcome.as_dict("zh") for outcome in OUTCOMES], allow_nan=False))
    assert [set(one) for one in told] == [{"id", "verdict", "condition", "evidence", "seconds"}] * 4
    refuted, conditional, plain, missing = told
    assert missing["evidence"] is None and plain["condition"] is None
    assert conditional["condition"]["zh"]
    assert refuted["evidence"]["figure"]["$schema"].startswith("https://vega.github.io/schema/vega-lite")
    assert refuted["evidence"]["records"] and refuted["evidence"]["numbers"]["third_entry"]["value"] < 1e-38
    assert [test["passed"] for test in refuted["evidence"]["criteria"]] == [True, False]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_page_loads_nothing(language: str) -> None:
    text = page(OUTCOMES, language)  # type: ignore[arg-type]
    before_bundle = text.split("<script")[0]
    assert not re.search(r"""(src|href)\s*=\s*["'](https?:)?//""", before_bundle)
    assert "<!--" not in before_bundle.replace("<!doctype", "")
    for outcome in OUTCOMES:
        assert f'id="{outcome.claim.id}" class="{outcome.verdict}"' in text
    assert ("不成立" in text) == (language == "zh")


def test_markdown_has_verdict_numbers_and_figure() -> None:
    text = markdown(OUTCOMES, "zh")
    assert "![H1](figures/H1.svg)" in text and "![E10]" not in text
    assert "**不成立**" in text and "| 得分个数的相对差（条件不满足时） |" in text


def test_a_report_is_a_folder(tmp_path: Path) -> None:
    write_report(tmp_path / "lab", OUTCOMES, "zh")
    assert sorted(path.name for path in (tmp_path / "lab").iterdir()) == [
        "claims.json", "figures", "report.html", "report.md",
    ]  # fmt: skip
    assert (tmp_path / "lab" / "figures" / "S4.svg").read_text(encoding="utf-8").startswith("<svg")
    assert len(json.loads((tmp_path / "lab" / "claims.json").read_text(encoding="utf-8"))) == 4


def test_a_figure_is_told_in_both_languages() -> None:
    evidence = OUTCOMES[0].evidence
    assert evidence is not None
    texts = OUTCOMES[0].claim.texts
    drawn = {
        language: json.dumps(specification(evidence, texts, language), ensure_ascii=False) for language in LANGUAGES
    }
    assert "份额" in drawn["zh"] and "份额" not in drawn["en"]


def test_the_command_lists_and_runs(run_pellucid: Run, tmp_path: Path) -> None:
    listed = json.loads(run_pellucid("claims", "list", "--json").stdout)
    assert len(listed) == len(all_claims())
    assert set(listed[0]) == {"id", "statement", "equation", "sources"} and set(listed[0]["statement"]) == {"en", "zh"}
    ended = run_pellucid("claims", "run", "m2", "s4", "--quick", "--lang", "zh", "-o", tmp_path / "lab", "--json")
    assert ended.returncode == 0, ended.stderr
    assert [one["verdict"] for one in json.loads(ended.stdout)] == ["holds", "refuted"]
    assert "命题实验室" in (tmp_path / "lab" / "report.html").read_text(encoding="utf-8")
    wrong = run_pellucid("claims", "run", "K9")
    assert wrong.returncode == 2 and "unknown claim K9" in wrong.stderr and "Traceback" not in wrong.stderr


def test_chinese_text_has_chinese_marks_and_english_text_english_ones() -> None:
    chinese, english = markdown(OUTCOMES, "zh"), markdown(OUTCOMES, "en")
    assert not re.search("[\u4e00-\u9fff）] ?[:.,](?!\\S)", chinese)
    assert "测量内容：" in chinese and "出处：" in chinese and not re.search("[，。：（]", english)
    assert "<i>测量内容</i>：" in page(OUTCOMES, "zh") and "<i>Measured</i>: " in page(OUTCOMES, "en")


def test_every_name_and_word_of_the_stored_outcomes_is_translated() -> None:
    for outcome in read_outcomes(ROOT / "docs" / "claims" / "outcomes.jsonl"):
        if outcome.evidence is not None:
            missing = outcome.claim.texts.missing(outcome.evidence)
            assert [name for name in missing if not SECTIONS.match(name)] == [], outcome.claim.id


def test_an_axis_of_rounding_errors_is_in_powers_of_ten() -> None:
    (outcome,) = run_claims(find_claims(["M2"]))
    assert outcome.evidence is not None
    drawn = svg(specification(outcome.evidence, outcome.claim.texts, "en"))
    assert "0.00000000000" not in drawn and re.search("e[-−]16<", drawn)

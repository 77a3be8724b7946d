"""A mistake in a claim's TOML file: the error names file and claim, and the other claims still run."""

import dataclasses
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pellucid.claims import all_claims, catalogue, find_claims, run_claim
from pellucid.claims.rules import Rule, at_most
from pellucid.claims.texts import load_texts
from pellucid.claims.words import e01_lookup_is_one_hot_product as e1
from pellucid.cli import claims as commands
from pellucid.errors import UserError

WRITTEN = Path(e1.__file__).with_suffix(".toml").read_text(encoding="utf-8")
RULE = e1.CLAIM.rule


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    return tmp_path / "e01_lookup.toml"


def test_every_claim_of_the_lab_has_fitting_texts() -> None:
    assert catalogue.unfit_claims() == {} and len(all_claims()) > 70


@pytest.mark.parametrize(
    ("right", "wrong", "what"),
    [
        ('id = "E1"', 'id = "E2"', "its id is E2"),
        ("[statement]", "[statement", "its texts are not valid TOML: "),
        ("[statement]\nen = ", "[statement]\nfr = ", "statement.en: field required"),
        ('largest_difference = "', 'largest_diference = "', "largest_difference has no entry in [reasons]"),
        ("[reasons]", '[reasons]\nother = "clear"', "[reasons] has other, which no criterion"),
        ("exactly_none", "exactly_non", "the reason of largest_difference refers to exactly_non, which is unknown"),
    ],
)
def test_an_error_in_the_texts_names_claim_and_file(texts: Path, right: str, wrong: str, what: str) -> None:
    assert right in WRITTEN
    texts.write_text(WRITTEN.replace(right, wrong, 1), encoding="utf-8")
    with pytest.raises(UserError) as raised:
        load_texts(texts, RULE)
    assert raised.value.what.startswith(f"claim E1: {what}")
    assert raised.value.where == (str(texts),) and raised.value.hint


def test_texts_that_are_not_there_are_an_error_of_the_claim(texts: Path) -> None:
    with pytest.raises(UserError, match="claim E1: it has no texts"):
        load_texts(texts, RULE)


def test_a_number_of_the_rule_needs_a_name(texts: Path) -> None:
    texts.write_text(WRITTEN.replace('largest_difference = "', 'unnamed = "', 1), encoding="utf-8")
    with pytest.raises(UserError, match=r"claim E1: unnamed has no entry in \[names\]"):
        load_texts(texts, Rule((at_most("unnamed", 1.0),)))


def test_a_condition_needs_criteria_outside_it(texts: Path) -> None:
    texts.write_text(WRITTEN, encoding="utf-8")
    with pytest.raises(UserError, match="need each other"):
        load_texts(texts, Rule(RULE.criteria, RULE.criteria))


def test_a_run_reports_numbers_columns_and_words_without_a_translation() -> None:
    (claim,) = find_claims(["P4"])
    unnamed = dataclasses.replace(claim, texts=dataclasses.replace(claim.texts, names={}, words={}))
    with pytest.raises(UserError, match=r'claim P4: its texts lack \[names\] spread_over_positions, .*\[words\] "enc'):
        run_claim(unnamed)


@pytest.fixture
def a_broken_claim(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    name = "pellucid.claims.words.e02_cbow_is_a_centroid"
    read = Path.read_text

    def broken(path: Path, encoding: str | None = None) -> str:
        return "id = " if path.name == "e02_cbow_is_a_centroid.toml" else read(path, encoding=encoding)

    monkeypatch.setattr(Path, "read_text", broken)
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(catalogue, "_catalogue", catalogue._catalogue.__wrapped__)
    yield
    monkeypatch.undo()
    importlib.import_module(name)


@pytest.mark.usefixtures("a_broken_claim")
def test_a_broken_claim_leaves_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    commands.list_claims()
    printed = capsys.readouterr()
    assert "E1 " in printed.out and "E3 " in printed.out and "E2 " not in printed.out
    assert "claim E2: its texts are not valid TOML" in printed.err and "e02_cbow_is_a_centroid.toml" in printed.err
    assert [claim.id for claim in find_claims(["E1"])] == ["E1"]
    with pytest.raises(UserError, match="claim E2: its texts are not valid TOML"):
        find_claims(["E2"])

"""`pellucid look` as a user runs it."""

import json
from pathlib import Path

import pytest

from pellucid.cli.app import main
from tests.generation.small_language_model import save_language_model, small_language_model
from tests.generation.small_translator import save_translator
from tests.inspection.conftest import translator_of

Captured = pytest.CaptureFixture[str]
TEXT = "水 Hund"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_translator(tmp_path_factory.mktemp("model"), translator_of("sinusoidal"))


def test_the_terminal_shows_where_it_looked(folder: Path, capsys: Captured) -> None:
    assert main(["look", str(folder), TEXT, "--target", "The cat"]) == 0
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert lines[0].startswith("source")
    assert lines[0].endswith("⟨end⟩")
    assert any(line.lstrip().startswith("⟨end⟩") for line in lines)
    assert "75, 50, 25 %" in lines[-1]
    assert "column is a token of the source" in shown.err


@pytest.mark.parametrize("view", ["lens", "beam", "cache", "residual", "score-parts", "gradients", "forcing", "rank"])
def test_views_are_drawn_in_the_terminal(folder: Path, view: str, capsys: Captured) -> None:
    assert main(["look", str(folder), TEXT, "--view", view, "--quiet"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 5


def test_json_has_tokens_and_numbers(folder: Path, capsys: Captured) -> None:
    assert main(["look", str(folder), TEXT, "--target", "The cat", "--view", "cross-attention", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["precision"] == "float32"
    assert [token["special"] for token in found["source"]][-1] is True
    assert bytes.fromhex("".join(token["bytes"] for token in found["source"])).decode("utf-8") == TEXT
    weights = found["arrays"][0]
    assert weights["name"] == "decoder.1.cross_attention.weights"
    assert [axis["name"] for axis in weights["axes"]] == ["heads", "query", "key"]
    assert sum(weights["values"][0][0]) == pytest.approx(1)
    assert weights["made_in"].startswith("pellucid/layers/attention.py:")


def test_check_says_how_exactly(folder: Path, capsys: Captured) -> None:
    assert main(["look", str(folder), TEXT, "--check"]) == 0
    assert "cached = uncached" in capsys.readouterr().out
    assert main(["look", str(folder), TEXT, "--check", "--json"]) == 0
    checks = json.loads(capsys.readouterr().out)
    assert all(check["error"] is None or check["error"] <= check["bound"] for check in checks)


def test_pictures_are_written(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    for name in ("look.svg", "look.json"):
        assert main(["look", str(folder), TEXT, "--view", "rank", "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).stat().st_size > 500
    assert "written" in capsys.readouterr().err


def test_views_are_listed(folder: Path, capsys: Captured) -> None:
    assert main(["look", str(folder), "--list"]) == 0
    assert "score-parts" in capsys.readouterr().out


def test_a_language_model_is_looked_into(tmp_path: Path, capsys: Captured) -> None:
    folder = save_language_model(tmp_path, small_language_model())
    assert main(["look", str(folder), "The cat ate"]) == 0
    out = capsys.readouterr().out
    assert "decoder.1.self_attention.weights" in out
    assert main(["look", str(folder), "The cat ate", "--check", "--json"]) == 0
    assert main(["look", str(folder), "The cat", "--target", "a"]) == 2
    assert main(["look", str(folder), "The cat", "--view", "alignment"]) == 1
    assert "no cross-attention" in capsys.readouterr().err


def test_mistakes_are_said(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    for arguments, code, said in (
        (["--view", "lense"], 2, "Did you mean lens?"),
        (["--view", "cross-attention", "--layer", "9"], 2, "counted from 0; got 9"),
        (["--view", "cross-attention", "--head", "9"], 2, "counted from 0; got 9"),
        (["-o", str(tmp_path / "a.pdf")], 2, "ends in .html"),
        (["--view", "over-training"], 1, "holds no checkpoint"),
    ):
        assert main(["look", str(folder), TEXT, *arguments]) == code
        assert said in capsys.readouterr().err
    assert main(["look", str(folder)]) == 2
    assert "no text to look at" in capsys.readouterr().err
    assert main(["look", str(folder), "  "]) == 1

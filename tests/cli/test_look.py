"""`pellucid look` as a user runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pellucid.cli.app import main
from tests.conftest import ROOT, Run
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
    assert "75, 50, 25 and 0 %" in lines[-1]
    assert "each column a token of the source" in shown.err


@pytest.mark.parametrize(
    "view",
    [
        "logit-lens",
        "beam-search",
        "kv-cache",
        "residual",
        "score-parts",
        "gradients",
        "teacher-forcing",
        "effective-rank",
    ],
)
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
    assert weights["code_location"].startswith("pellucid/layers/attention.py:")


def test_check_says_how_exactly(folder: Path, capsys: Captured) -> None:
    assert main(["look", str(folder), TEXT, "--check"]) == 0
    assert "cached = uncached" in capsys.readouterr().out
    assert main(["look", str(folder), TEXT, "--check", "--json"]) == 0
    checks = json.loads(capsys.readouterr().out)
    assert all(check["error"] is None or check["error"] <= check["bound"] for check in checks)


def test_pictures_are_written(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    for name in ("look.svg", "look.json"):
        assert main(["look", str(folder), TEXT, "--view", "effective-rank", "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).stat().st_size > 500
    assert "written" in capsys.readouterr().err


def test_views_are_listed(folder: Path, capsys: Captured) -> None:
    assert main(["look", "--list"]) == 0
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


def test_a_change_and_what_it_does(folder: Path, capsys: Captured) -> None:
    edits = ["--what-if", "mask_token 1", "--what-if", "ablate-head encoder.0.self_attention 2"]
    assert main(["look", str(folder), TEXT, "--target", "The cat", *edits]) == 0
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert lines[0].startswith("edit    mask source token 1")
    assert lines[1].startswith("edit    ablate head 2")
    assert [line.split()[0] for line in lines[2:4]] == ["before", "after"]
    assert "difference" in shown.out
    assert "nats" in shown.err
    assert main(["look", str(folder), TEXT, "--target", "The cat", *edits, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    differences = found["arrays"][0]["values"][2]
    assert found["change"] == pytest.approx(sum(differences))
    assert len(found["edits"]) == 2


def test_a_view_of_a_changed_run(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    view = ["--what-if", "mask_token 0", "--view", "encoder-attention"]
    assert main(["look", str(folder), TEXT, "--target", "The", *view, "--json"]) == 0
    weights = json.loads(capsys.readouterr().out)["arrays"][0]["values"]
    assert all(row[0] == 0 for head in weights for row in head)
    for name in ("edited.html", "edited.svg"):
        assert main(["look", str(folder), TEXT, "--what-if", "mask_token 0", "-o", str(tmp_path / name)]) == 0
        assert "mask source token 0" in (tmp_path / name).read_text(encoding="utf-8") or name.endswith("svg")
    assert main(["look", str(folder), TEXT, *view, "--dark", "-o", str(tmp_path / "edited.svg")]) == 0
    assert "#1f2227" in (tmp_path / "edited.svg").read_text(encoding="utf-8")


def test_the_text_comes_from_standard_input(folder: Path, run_pellucid: Run) -> None:
    ended = run_pellucid("look", folder, "-", "--view", "effective-rank", "--json", stdin="\ufeff水\r\nHund\r\n")
    assert ended.returncode == 0
    assert json.loads(ended.stdout)["text"] == "水\nHund"


def test_bytes_that_are_no_text_are_named(folder: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "pellucid", "look", str(folder), "-"],
        input=b"Hund\n" + b"\xe6\xb0 cat\n",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 1
    assert b"standard input:2" in ended.stderr


@pytest.mark.parametrize(
    ("view", "flag"),
    [("logit-lens", "--layer"), ("logit-lens", "--head"), ("effective-rank", "--layer"), ("positions", "--head"),
     ("attention-mass", "--head"),
     ("residual", "--head"), ("beam-search", "--layer"), ("kv-cache", "--head"), ("gradients", "--layer")],
)  # fmt: skip
def test_a_view_without_layers_or_heads_says_so(folder: Path, view: str, flag: str, capsys: Captured) -> None:
    assert main(["look", str(folder), TEXT, "--view", view, flag, "0"]) == 2
    assert f"the view {view} has no single {flag[2:]}" in capsys.readouterr().err
    edit = ["--what-if", "mask_token 0"]
    assert main(["look", str(folder), TEXT, "--view", view, flag, "0", *edit]) == 2
    assert main(["look", str(folder), TEXT, flag, "0", *edit]) == 2
    assert "has no single" in capsys.readouterr().err


def test_a_page_of_all_views_has_the_layer_or_says_that_there_is_none(
    folder: Path, tmp_path: Path, capsys: Captured
) -> None:
    for flag in ("--layer", "--head"):
        page = tmp_path / f"{flag[2:]}.html"
        assert main(["look", str(folder), TEXT, "--target", "The", flag, "9", "-o", str(page)]) == 2
        assert f"there is no {flag[2:]} 9" in capsys.readouterr().err
        assert not page.exists()
        assert main(["look", str(folder), TEXT, "--target", "The", flag, "0", "-o", str(page)]) == 0
        sections = page.read_text(encoding="utf-8").split("<script", 1)[0]
        assert 'id="cross-attention"' in sections
        assert 'id="logit-lens"' in sections


def test_residual_counts_layers_as_every_view_does(folder: Path, capsys: Captured) -> None:
    views = []
    for layer in ([], ["--layer", "1"], ["--layer", "0"]):
        assert main(["look", str(folder), TEXT, "--target", "The", "--view", "residual", *layer, "--json"]) == 0
        views.append(json.loads(capsys.readouterr().out)["arrays"][0])
    last, second, first = views
    assert last == second
    parts = next(axis["labels"] for axis in first["axes"] if axis["name"] == "part")
    assert any(part.startswith("decoder.0.") for part in parts)
    assert not any(part.startswith("decoder.1.") for part in parts)


def test_mistakes_are_said(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    for arguments, code, said in (
        (["--view", "logit-lense"], 2, "Did you mean logit-lens?"),
        (["--view", "cross-attention", "--layer", "9"], 2, "there is no layer 9"),
        (["--view", "cross-attention", "--head", "9"], 2, "there is no head 9"),
        (["--layer", "-1"], 2, "there is no layer -1"),
        (["--head", "9"], 2, "there is no head 9"),
        (["-o", str(tmp_path / "a.pdf")], 2, "ends in .html"),
        (["--view", "training-dynamics"], 1, "has no checkpoint"),
    ):
        assert main(["look", str(folder), TEXT, *arguments]) == code
        assert said in capsys.readouterr().err
    for arguments, said in (
        (["--what-if", "mask 1"], "Did you mean mask_token?"),
        (["--what-if", "mask_token 1", "--check"], "cannot be combined"),
        (["--target", "The", "--prefix", "The"], "--target cannot be combined with --prefix"),
    ):
        assert main(["look", str(folder), TEXT, *arguments]) == 2
        assert said in capsys.readouterr().err
    assert main(["look", str(tmp_path / "nowhere"), TEXT]) == 1
    assert "nowhere" in capsys.readouterr().err
    assert main(["look"]) == 2
    assert "no model was given" in capsys.readouterr().err
    assert main(["look", str(folder)]) == 2
    assert "no text was given" in capsys.readouterr().err
    assert main(["look", str(folder), "  "]) == 1

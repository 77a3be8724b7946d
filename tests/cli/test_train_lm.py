"""`pellucid train lm`, and what other commands say of texts and language models."""

import json
import tomllib
from pathlib import Path

import pytest

from pellucid.cli.app import main
from pellucid.training.recipe import LanguageModelRecipe

Captured = pytest.CaptureFixture[str]

FLAGS = [
    "--recipe", "tiny", "--steps", "4", "--model.d_model", "16", "--model.n_heads", "2", "--model.d_ff", "32",
    "--model.n_layers", "1", "--training.batch_tokens", "64", "--training.validations", "1",
    "--training.sample_tokens", "5", "--training.precision", "float32", "--tokenizer.kind", "characters",
]  # fmt: skip


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"line {number} of the text\n" for number in range(80)), encoding="utf-8")
    return path


def test_a_text_becomes_a_model_that_info_describes(text: Path, tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "model"
    assert main(["train", "lm", str(text), "-o", str(folder), *FLAGS]) == 0
    said = capsys.readouterr().err
    assert "each line is a document (data.documents line)" in said
    assert "bits per byte, best so far" in said
    assert "continuation: " in said
    assert f"Try it: pellucid generate {folder}" in said
    assert main(["info", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert "a language model" in shown
    assert "valid_bits_per_byte" in shown
    assert main(["info", str(folder), "--json"]) == 0
    parameters = json.loads(capsys.readouterr().out)["parameters"]
    assert {"embedding", "decoder.self_attention", "decoder.feed_forward", "total"} <= parameters.keys()
    assert main(["train", "lm", "-o", str(folder), "--resume"]) == 0
    assert "Nothing left to do" in capsys.readouterr().err


def test_what_cannot_be_is_wrong_usage(text: Path, tmp_path: Path, capsys: Captured) -> None:
    model = str(tmp_path / "model")
    assert main(["train", "lm", "-o", model]) == 2
    assert main(["train", "lm", str(text), "-o", model, "--minutes", "1", "--steps", "2"]) == 2
    assert main(["train", "lm", str(text), "-o", model, "--training.guided_weight", "1"]) == 2
    assert "unknown setting training.guided_weight" in capsys.readouterr().err
    assert not (tmp_path / "model").exists()


def test_the_settings_of_a_language_model_are_a_recipe_themselves(tmp_path: Path, capsys: Captured) -> None:
    assert main(["train", "settings", "llama", "--lm"]) == 0
    listed = tomllib.loads(capsys.readouterr().out)
    assert listed["model"]["n_kv_heads"] == 4
    assert set(listed) == set(LanguageModelRecipe.model_fields)


def test_the_doctor_examines_texts(tmp_path: Path, capsys: Captured) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text("one\ntwo\none\n", encoding="utf-8")
    bad.write_bytes(b"one\n\xff\n")
    assert main(["doctor", "--lm", str(good)]) == 0
    shown = capsys.readouterr().out
    assert "1 file, 3 documents, 2 usable, 6 characters" in shown
    assert f"{good}:3" in shown
    assert main(["doctor", "--lm", str(bad)]) == 1
    assert "Training would refuse this text: encoding." in capsys.readouterr().err
    assert main(["doctor", "--lm", str(bad), "--drop", "encoding", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["documents"], found["usable"], found["counts"]["encoding"]) == (2, 1, 1)
    assert main(["doctor", "--lm", str(bad), "--fix", str(tmp_path / "out.tsv")]) == 2
    assert main(["doctor", "--lm", str(bad), "--drop", "swapped"]) == 2
    assert "no check is called 'swapped'" in capsys.readouterr().err

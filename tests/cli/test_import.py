"""`pellucid import`: what it says, and that what it writes can be asked."""

import json
from pathlib import Path

import pytest

from pellucid.cli.app import main
from tests.interop.twins import gguf_file, huggingface_folder, twin


@pytest.fixture(scope="module")
def twin_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return gguf_file(twin("llama"), tmp_path_factory.mktemp("gguf") / "twin.gguf")


def test_it_says_what_was_imported_and_how_to_use_it(
    twin_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", str(twin_file), str(tmp_path / "ours")]) == 0
    out, said = capsys.readouterr()
    assert out == ""
    assert "twin: llama, 0.0 million parameters, 300 ids, context 64 tokens" in said
    assert f"`pellucid chat {tmp_path / 'ours'}`" in said
    assert main(["info", str(tmp_path / "ours"), "--json"]) == 0
    description = json.loads(capsys.readouterr().out)
    assert description["kind"] == "language-model"
    assert description["report"]["imported"] == {"name": "twin", "architecture": "llama", "precision": "F32"}


def test_as_json_it_gives_the_same(twin_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(twin_file), str(tmp_path / "ours"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "folder": str(tmp_path / "ours"),
        "name": "twin",
        "architecture": "llama",
        "parameters": sum(weight.numel() for weight in twin("llama").parameters()),
        "vocab_size": 300,
        "context": 64,
        "chat": True,
        "warnings": [],
    }


def test_a_model_that_stands_there_is_kept(twin_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "ours"
    assert main(["import", str(twin_file), str(folder)]) == 0
    weights = (folder / "model.safetensors").read_bytes()
    capsys.readouterr()
    assert main(["import", str(twin_file), str(folder)]) == 1
    assert "Add `--overwrite` to replace it" in capsys.readouterr().err
    assert (folder / "model.safetensors").read_bytes() == weights
    assert main(["import", str(twin_file), str(folder), "--overwrite"]) == 0


def test_a_refusal_names_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    theirs = huggingface_folder(twin("gpt2"), tmp_path / "theirs")
    (theirs / "tokenizer.json").unlink()
    capsys.readouterr()
    assert main(["import", str(theirs), str(tmp_path / "ours"), "--json"]) == 1
    out, err = capsys.readouterr()
    assert out == "" and json.loads(err)["where"] == [str(theirs / "tokenizer.json")]


def test_the_three_precisions_generate_on_the_processor(
    twin_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", str(twin_file), str(tmp_path / "ours"), "--quiet"]) == 0
    texts = set()
    for precision in ("auto", "float32", "bfloat16", "int8"):
        capsys.readouterr()
        flags = ["--tokens", "5", "--seed", "1", "--precision", precision, "--json"]
        assert main(["generate", str(tmp_path / "ours"), "the cat", *flags]) == 0
        found = json.loads(capsys.readouterr().out)
        assert len(found["tokens"]) <= 5
        texts.add(found["text"])
    assert texts  # random weights: what they write says nothing

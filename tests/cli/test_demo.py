import json
import tempfile
from pathlib import Path

import pytest

from pellucid.cli import demo as command
from pellucid.cli.app import main
from pellucid.cli.demo import demo
from pellucid.demo.language import DemoData, DemoPair, split
from pellucid.generation.attention_alignment import AlignmentLink
from pellucid.generation.translation import Alternative, Translation
from pellucid.training import run
from pellucid.training.task import Metrics
from pellucid.training.translation_task import TranslationTask

SMALL = [
    "--threads", "1", "--training.steps", "3", "--model.d_model", "32", "--model.d_ff", "64",
    "--training.validation_sentences", "2", "--generation.beam", "1", "--generation.max_length_extra", "5",
    "--generation.max_length_ratio", "1",
]  # fmt: skip


@pytest.fixture
def small_language(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> DemoData:
    """Give the demo few sentences, and temporary folders that the test can see."""
    data = split(400, valid_pairs=20, test_pairs=20)
    monkeypatch.setattr(command, "split", lambda: data)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return data


def translation(pair: DemoPair, text: str | None = None) -> Translation:
    """Make a translation with the true alignment: the pair's target, or another text."""
    links = tuple(AlignmentLink(i, j, 1.0) for i, j in pair.alignment)
    tokens = tuple("▁" + word if word.isalnum() else word for word in pair.target_words)
    return Translation((Alternative(text or pair.target, -0.1, -0.5, 5),), pair.source_words, tokens, links)


def test_json_has_accuracies_and_samples_and_leaves_no_files_behind(
    small_language: DemoData, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--minutes", "5", "--json", *SMALL]) == 0
    out, err = capsys.readouterr()
    answer = json.loads(out)
    assert answer.keys() == {"exact", "n", "unseen_combinations", "samples"}
    assert answer["unseen_combinations"].keys() == {"exact", "n"}
    assert (answer["n"], answer["unseen_combinations"]["n"]) == (20, len(small_language.unseen_combinations))
    assert 0 <= answer["exact"] <= 1
    assert [sample["source"] for sample in answer["samples"]] == [pair.source for pair in small_language.test[:10]]
    assert all(sample.keys() == {"source", "target", "reference"} for sample in answer["samples"])
    assert "generates" in err
    assert list(tmp_path.glob("pellucid-demo-*")) == []


def test_the_output_folder_keeps_the_model_and_is_not_overwritten_silently(
    small_language: DemoData, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "zh-en"
    assert main(["demo", "--minutes", "5", "-o", str(folder), *SMALL]) == 0
    out, err = capsys.readouterr()
    assert "unseen sentences" in out
    assert f"pellucid translate {folder}" in err
    assert "before its goal of 97%; more time brings more: `pellucid demo --minutes 10`" in err
    assert (folder / "model.safetensors").is_file()
    assert main(["demo", "--minutes", "5", "-o", str(folder), *SMALL]) == 1
    assert "--overwrite" in capsys.readouterr().err


def test_training_ends_when_the_validation_sentences_are_right(
    small_language: DemoData, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "FIRST_VALIDATION", 2)
    settings = ["500" if value == "3" else value for value in SMALL]
    monkeypatch.setattr(TranslationTask, "measure", lambda *_: Metrics(0.0, 0.0, 1.0))
    assert main(["demo", "--minutes", "5", *settings]) == 0
    err = capsys.readouterr().err
    assert "100% exact" in err
    assert "before its goal" not in err


def test_a_negative_length_is_a_usage_error(small_language: DemoData, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--minutes", "-1", *SMALL]) == 2
    assert "minutes" in capsys.readouterr().err


def test_the_text_output_shows_drawings_mistakes_and_alignment_accuracy(
    small_language: DemoData, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    wrong = small_language.test[1]
    found = [translation(pair, "No." if pair is wrong else None) for pair in small_language.test]
    monkeypatch.setattr(command, "_train", lambda *_, **__: (0, 1.0))
    monkeypatch.setattr(command, "_translate", lambda *_: found)
    assert demo(output=tmp_path / "zh-en") == 0
    out = capsys.readouterr().out
    first = small_language.test[0]
    assert f"{first.source}  →  {first.target}  (exact)" in out
    assert f"{wrong.source}  →  No.  (reference: {wrong.target})" in out
    assert "█" in out
    assert "Different from the reference: 1 of 20:" in out
    assert "95.0%" in out
    assert "In exact translations, 100.0% of the tokens attend most to the word they translate." in out


def test_a_repetition_is_not_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    pair = split(50, valid_pairs=1, test_pairs=1).test[0]
    loop = Translation((Alternative("a " * 60, -1.0, -60.0, 61),), pair.source_words, ("▁a",) * 60, ())
    command._draw(pair, loop)
    assert "(not drawn: 60 tokens)" in capsys.readouterr().out


def test_an_interrupted_run_returns_its_exit_code_and_leaves_no_files_behind(
    small_language: DemoData, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(command, "_train", lambda *_, **__: (130, 0.0))
    assert demo() == 130
    assert list(tmp_path.glob("pellucid-demo-*")) == []

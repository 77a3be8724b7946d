import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pellucid import WordVectors
from pellucid.cli import console
from pellucid.cli.app import main
from pellucid.storage.model_folder import write_config
from pellucid.word_vectors.config import VectorsConfig
from pellucid.word_vectors.training import VectorsStep
from pellucid.word_vectors.training_run import TrainingRun
from tests.conftest import ROOT, Run


@pytest.fixture
def text(tmp_path: Path) -> Path:
    draw, words = random.Random(1), ["king", "queen", "man", "woman", "crown", "castle", "bread"]
    lines = [" ".join(draw.choices(words, k=9)) for _ in range(200)]
    (tmp_path / "text.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / "text.txt"


def train(*arguments: object) -> int:
    return main(["train", "vectors", *map(str, arguments)])


def test_every_setting_is_a_flag_with_its_description(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "vectors", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for name, field in VectorsConfig.model_fields.items():
        flag = "--dimension" if name == "dim" else f"--{name.replace('_', '-')}"
        assert f" {flag} " in said, flag
        assert field.description is not None and field.description.split()[0] in said


def test_a_training_leaves_a_folder_and_says_what_it_did(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(text, "-o", tmp_path / "v", "-d", 8, "--epochs", 2, "--threads", 1) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "1,800 words, 7 distinct, 7 of them at least 5 times; 200 sentences" in said.err
    assert "epoch 2 of 2: loss" in said.err and "words/s" in said.err
    vectors = WordVectors.load(tmp_path / "v")
    assert (len(vectors), vectors.dim) == (7, 8)
    assert vectors.counts is not None and vectors.output_vectors is not None
    lines = [json.loads(line) for line in (tmp_path / "v" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {"step", "loss", "learning_rate", "tokens", "seconds", "tokens_per_second"} <= lines[-1].keys()
    assert lines[-1]["progress"] == 1 and lines[-1]["tokens"] == 3600


def test_a_file_of_another_form_and_going_on(text: Path, tmp_path: Path) -> None:
    assert train(text, "-o", tmp_path / "v.txt", "--to", "word2vec-text", "-d", 8, "--epochs", 1) == 0
    more = tmp_path / "more.txt"
    more.write_text("king newer queen\n" * 9, encoding="utf-8")
    assert train(more, "-o", tmp_path / "w", "--from", tmp_path / "v.txt", "--epochs", 1) == 0
    assert list(WordVectors.load(tmp_path / "w").words)[-1] == "newer"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-o", "v"], 2, "no text given"),
        (["nowhere.txt", "-o", "v"], 1, "no such file"),
        (["words " * 100, "-o", "v"], 1, "name too long"),
        (["text.txt", "-o", "v", "--training.epochs", "3"], 2, "unknown option: --training.epochs"),
        (["text.txt", "-o", "v", "--window", "0"], 2, "input should be greater than or equal to 1"),
        (["text.txt", "-o", "v", "--learning-rate", "0.00001"], 2, "end_learning_rate 0.0001 is above"),
        (["text.txt", "-o", "v", "--tokenizer", "jieba"], 1, "unknown tokenizer 'jieba'"),
        (["text.txt", "-o", "text.txt", "--to", "glove"], 1, "text.txt already exists"),
        (["text.txt", "-o", "text.txt", "--overwrite"], 1, "text.txt is the training text"),
        (["text.txt", "-o", "nowhere/v.bin"], 1, "nowhere does not exist"),
        (["text.txt", "-o", "text.txt/v"], 1, "text.txt is a file"),
        (["text.txt", "-o", "v.txt.gz", "--to", "native"], 1, "v.txt.gz looks like a file name"),
        (["text.txt", "-o", "es-en", "--overwrite"], 1, "es-en holds a translator, which will not be overwritten"),
        (["text.txt", "-o", "thesis", "--overwrite"], 1, "thesis contains other files: chapter.tex"),
        (["text.txt", "-o", "new.txt", "--from", "places"], 1, "word2vec-text cannot hold 1 of the words: 'new york'"),
    ],
)
def test_mistakes_are_said(
    text: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(text.parent)
    Path("thesis").mkdir()
    Path("thesis/chapter.tex").touch()
    Path("es-en").mkdir()
    write_config("es-en", "translator", {})
    WordVectors(["new york", "king"], [[1.0], [2.0]]).save("places")
    before = sorted(Path().rglob("*"))
    assert train(*arguments) == code
    said = capsys.readouterr().err
    assert message in said and "epoch 1" not in said
    assert sorted(Path().rglob("*")) == before


def test_the_ending_of_the_output_says_its_form(text: Path, tmp_path: Path) -> None:
    assert train(text, "-o", tmp_path / "v.bin", "-d", 4, "--epochs", 1) == 0
    vectors = WordVectors.load(tmp_path / "v.bin", strict=True)
    assert vectors.report is not None and vectors.report.format == "word2vec-binary"


def test_vectors_that_cannot_be_written_after_all_are_kept_elsewhere(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def trained_meanwhile(run: TrainingRun) -> Iterator[VectorsStep]:
        (tmp_path / "v").touch()  # by somebody else
        yield from run.training

    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "elsewhere"))
    monkeypatch.setattr(TrainingRun, "__iter__", trained_meanwhile)
    assert train(text, "-o", tmp_path / "v", "-d", 4, "--epochs", 1) == 1
    said = capsys.readouterr().err
    (kept,) = (tmp_path / "elsewhere").glob("*/vectors")
    assert f"the vectors have been saved to {kept} instead" in said and "v is a file" in said
    assert WordVectors.load(kept).dim == 4


def test_vectors_that_stand_there_are_not_replaced_unasked(text: Path, tmp_path: Path) -> None:
    assert train(text, "-o", tmp_path / "v", "-d", 4, "--epochs", 1) == 0
    assert train(text, "-o", tmp_path / "v", "-d", 4, "--epochs", 1) == 1
    assert train(text, "-o", tmp_path / "v", "-d", 5, "--epochs", 1, "--overwrite") == 0
    assert WordVectors.load(tmp_path / "v").dim == 5


def test_ctrl_c_keeps_the_vectors_as_they_are(text: Path, tmp_path: Path) -> None:
    arguments = ["train", "vectors", text, "-o", tmp_path / "v", "-d", 4, "--epochs", 1_000_000, "--threads", 1]
    with subprocess.Popen(
        [sys.executable, "-m", "pellucid", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as program:
        assert program.stderr is not None
        for line in program.stderr:
            if line.startswith("epoch 3 "):
                program.send_signal(signal.SIGINT)
                break
        rest = program.stderr.read()
    assert program.returncode == 130
    assert "the vectors are saved as they are" in rest
    assert WordVectors.load(tmp_path / "v").dim == 4


def test_stability_neighbours_and_map(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], run_pellucid: Run
) -> None:
    options: list[Any] = ["-d", 4, "--epochs", 1, "--threads", 1]
    asked = ["vectors", "stability", text, "--words", "king", "--pairs", "man:woman", "--runs", 2, "-n", 2, *options]
    assert main([*map(str, asked), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["neighbours"]["king"]) == 2 and set(found["measures"]) == {"man:woman"}
    assert main(list(map(str, asked))) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [len(line.split("\t")) for line in lines] == [6, 6, 4]
    assert train(text, "-o", tmp_path / "v", *options) == 0
    capsys.readouterr()
    assert main(["vectors", "neighbours", str(tmp_path / "v"), "king", "--corpus", str(text), "-n", "1", "--json"]) == 0
    (near,) = json.loads(capsys.readouterr().out)["neighbours"]
    assert near["examples"][0]["file"] == str(text) and near["shared"] > 0
    assert main(["vectors", "map", str(tmp_path / "v"), "-o", str(tmp_path / "map.html")]) == 0
    assert "queen" in (tmp_path / "map.html").read_text(encoding="utf-8")
    for wrong in ([], ["--pairs", "man"], ["--x", "man", "king", "--y", "woman", "queen", "--a", "crown"]):
        assert main(["vectors", "stability", str(text), *wrong]) == 2


def test_bias_comes_with_an_interval(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options: list[Any] = ["-d", 4, "--epochs", 1, "--threads", 1, "--runs", 3]
    groups = ["--x", "king", "man", "--y", "queen", "woman", "--a", "crown", "--b", "bread"]
    assert main([*map(str, ["vectors", "stability", text, *groups, *options]), "--json"]) == 0
    weat = json.loads(capsys.readouterr().out)["measures"]["WEAT"]
    assert -2 <= weat["low"] < weat["mean"] < weat["high"] <= 2
    assert main([*map(str, ["vectors", "stability", text, *groups, "bee", *options])]) == 1
    assert "'bee' is not among the 7 words" in capsys.readouterr().err


def test_a_broken_off_bootstrap_gives_what_it_has(
    text: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    advance, runs = console.Progress.advance, 0

    def interrupted(self: console.Progress, amount: float = 1, note: str | None = None) -> None:
        nonlocal runs
        runs += 1
        advance(self, amount, note)
        if runs == 2:
            os.kill(os.getpid(), signal.SIGINT)  # while the second training's end is being told

    monkeypatch.setattr(console.Progress, "advance", interrupted)
    asked = ["vectors", "stability", text, "--words", "king", "--runs", 1000, "-n", 2, "-d", 4, "--epochs", 1, "--json"]
    assert main([*map(str, asked)]) == 130
    out, err = capsys.readouterr()
    assert json.loads(out)["runs"] == 2
    assert "the intervals so far are reported" in err


def test_neighbours_are_looked_for_as_the_text_was_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "zh.txt").write_text("猫吃鱼\n狗吃肉\n" * 30, encoding="utf-8")
    options = ["--tokenizer", "characters", "-d", 4, "--epochs", 1, "--threads", 1]
    assert train(tmp_path / "zh.txt", "-o", tmp_path / "v", *options) == 0
    capsys.readouterr()
    asked = ["vectors", "neighbours", str(tmp_path / "v"), "猫", "--corpus", str(tmp_path / "zh.txt"), "--json"]
    assert main(asked) == 0
    found = {one["word"]: one for one in json.loads(capsys.readouterr().out)["neighbours"]}
    assert (found["鱼"]["shared"], found["肉"]["shared"]) == (30, 0)
    assert main([*asked, "--tokenizer", "whitespace"]) == 0
    assert "is --tokenizer right?" in capsys.readouterr().err

"""A training of vectors that was killed or stopped goes on as if nothing had happened, to the bit."""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

from pellucid import WordVectors
from pellucid.cli.app import main
from pellucid.errors import UserError
from pellucid.storage.checkpoints import list_checkpoints
from pellucid.word_vectors.config import vectors_config
from pellucid.word_vectors.encoded_text import encode_text
from pellucid.word_vectors.training import VectorsTraining
from tests.conftest import ROOT

SETTINGS = ["-d", "8", "--epochs", "3", "--workers", "4", "--shard-words", "40", "--min-count", "1"]

# Trains with a checkpoint at every record, and kills itself at the n-th time that a file is forced to the disk.
PROGRAM = """
import os, signal, sys
from pellucid.cli.app import main
from pellucid.errors import UserError
from pellucid.word_vectors import training, training_run
training_run.SECONDS_PER_CHECKPOINT = -1.0
training._SECONDS_PER_STEP = 0.0
fatal, forced, calls = int(sys.argv[1]), os.fsync, []
def fsync(handle):
    calls.append(handle)
    if len(calls) == fatal:
        os.kill(os.getpid(), signal.SIGKILL)
    forced(handle)
os.fsync = fsync
sys.exit(main(sys.argv[2:]))
"""


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    draw = random.Random(1)
    lines = [" ".join(f"w{min(draw.randrange(90), draw.randrange(90))}" for _ in range(20)) for _ in range(100)]
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def whole(text: Path) -> WordVectors:
    """The vectors of a training that nobody kills."""
    assert train(text, text.parent / "whole", "--threads", "1") == 0
    return WordVectors.load(text.parent / "whole")


def train(text: Path, folder: Path, *more: str) -> int:
    return main(["train", "vectors", str(text), "-o", str(folder), *SETTINGS, *more])


def killed(text: Path, folder: Path, fatal: int, *more: str) -> int:
    arguments = ["train", "vectors", str(text), "-o", str(folder), *SETTINGS, *more]
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, str(fatal), *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
        check=False,
    ).returncode


def same(one: WordVectors, other: WordVectors) -> bool:
    assert one.output_vectors is not None and other.output_vectors is not None
    return (
        list(one.words) == list(other.words)
        and one.input_vectors.tobytes() == other.input_vectors.tobytes()
        and one.output_vectors.tobytes() == other.output_vectors.tobytes()
    )


@pytest.mark.parametrize("threads", ["1", "2"])
def test_killed_again_and_again_it_ends_with_the_same_vectors(
    text: Path, whole: WordVectors, tmp_path: Path, threads: str
) -> None:
    folder, draw = tmp_path / "v", random.Random(int(threads))
    kills = 0
    while killed(text, folder, draw.randrange(20, 120), "--threads", threads, *(["--resume"] if kills else [])):
        kills += 1
        assert kills < 100
    assert kills > 2
    made = WordVectors.load(folder)
    assert same(made, whole)
    assert made.metadata["losses"] == whole.metadata["losses"]
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["step"] for line in lines] == list(range(1, len(lines) + 1))
    assert list_checkpoints(folder) == []


def test_stopped_by_ctrl_c_it_can_go_on(text: Path, whole: WordVectors, tmp_path: Path) -> None:
    folder = tmp_path / "v"
    slow = PROGRAM.replace("-1.0", "1e9").replace(
        "os.fsync = fsync\n",
        "begun = training.VectorsTraining._record\n"
        "def counted(self, *arguments):\n"
        "    if self._at.steps == 5:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return begun(self, *arguments)\n"
        "training.VectorsTraining._record = counted\n",
    )
    arguments = ["train", "vectors", str(text), "-o", str(folder), *SETTINGS]
    done = subprocess.run(
        [sys.executable, "-c", slow, "0", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 130, done.stderr
    assert "the vectors are saved as they are" in done.stderr and "--resume" in done.stderr
    assert not same(WordVectors.load(folder), whole)
    assert train(text, folder) == 1  # neither asked to go on nor to replace
    assert train(text, folder, "--resume") == 0
    assert same(WordVectors.load(folder), whole)
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert report["training"]["progress"] == 1 and not report["training"]["stopped"]
    assert report["data"]["words"] == 2000


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (["--window", "4"], "the training was started with window = 5"),
        (["--seed", "2"], "the training was started with seed = 1"),
        (["--overwrite"], "--resume and --overwrite are mutually exclusive"),
        (["another text"], "the training was started with another text"),
        (["--from", "places"], "the training was started with other existing vectors"),
    ],
)
def test_another_training_is_not_gone_on_with(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], changed: list[str], message: str
) -> None:
    folder = tmp_path / "v"
    if changed[0] == "--from":
        WordVectors(["w1", "w2"], numpy.ones((2, 8))).save(tmp_path / "places")
        changed = ["--from", str(tmp_path / "places")]
    assert killed(text, folder, 60) == -signal.SIGKILL
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    source = text
    if changed == ["another text"]:
        source, changed = tmp_path / "other.txt", []
        source.write_text(text.read_text(encoding="utf-8").replace("w7 ", "w8 "), encoding="utf-8")
    assert train(source, folder, "--resume", *changed) in (1, 2)
    assert message in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_where_nothing_was_begun_it_says_so(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(text, tmp_path / "v", "--resume") == 0
    assert "starting from the beginning" in capsys.readouterr().err
    assert train(text, tmp_path / "v", "--resume") == 1
    assert "nothing to resume" in capsys.readouterr().err
    assert train(text, tmp_path / "v.bin", "--resume") == 2
    assert "a file of vectors has no checkpoint to resume from" in capsys.readouterr().err


def test_the_checkpoints_of_a_training_that_is_replaced_go(text: Path, tmp_path: Path) -> None:
    folder = tmp_path / "v"
    assert killed(text, folder, 80) == -signal.SIGKILL
    (old,) = list_checkpoints(folder)
    assert killed(text, folder, 20, "--overwrite", "--seed", "2") == -signal.SIGKILL
    (new,) = list_checkpoints(folder)
    assert new != old
    assert train(text, folder, "--resume", "--seed", "2") == 0


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda state: state["state"].pop("identity"), "is damaged"),
        (lambda state: state["state"].pop("version"), "written by another version"),
        (lambda state: state["state"].pop("records"), "records are damaged"),
        (lambda state: state["state"]["counters"].update(round=10**9), "do not fit the text"),
        (lambda state: state["state"]["counters"].pop("loss"), "is damaged"),
        (lambda state: state.update(files={}), "starting from the beginning"),
    ],
)
def test_a_damaged_checkpoint_is_told(
    text: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    damage: Callable[[dict[str, Any]], object],
    message: str,
) -> None:
    folder = tmp_path / "v"
    assert killed(text, folder, 40) == -signal.SIGKILL
    (checkpoint,) = list_checkpoints(folder)
    state = json.loads((checkpoint / "state.json").read_text(encoding="utf-8"))
    damage(state)
    (checkpoint / "state.json").write_text(json.dumps(state), encoding="utf-8")
    train(text, folder, "--resume")
    assert message in capsys.readouterr().err


def test_a_stopped_training_without_its_checkpoint_is_not_called_finished(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(text, tmp_path / "v") == 0
    report = {"training": {"stopped": True, "progress": 0.25}}
    (tmp_path / "v" / "report.json").write_text(json.dumps(report), encoding="utf-8")
    assert train(text, tmp_path / "v", "--resume") == 1
    assert "was stopped at 25%, but its checkpoint is missing or damaged" in capsys.readouterr().err


def test_free_threads_go_on_with_as_many(text: Path, tmp_path: Path) -> None:
    config = vectors_config({"dim": 8, "epochs": 2, "fast": True, "min_count": 1})
    encoded = encode_text(text, tmp_path, min_count=1)
    begun = VectorsTraining(encoded, config, threads=2)
    next(iter(begun))
    with pytest.raises(UserError, match="started with threads = 2"):
        VectorsTraining(encoded, config, threads=1).resume_from(begun.checkpoint())

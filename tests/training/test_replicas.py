"""Several processes train one model: what they learn is what one learns, and none is lost in silence."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import psutil
import pytest
import torch

from pellucid.distributed import Group
from pellucid.errors import UserError
from pellucid.storage.metrics import read_metrics
from pellucid.storage.tensors import read_tensors
from pellucid.training.train_lm import train_lm
from pellucid.training.train_translator import train_translator

from .conftest import SMALL

ROOT = Path(__file__).parent.parent.parent
STEPS = 8
EXACT = {
    **SMALL,
    "model.dropout": 0.0,
    "training.log_steps": 1,
    "training.validations": 1,
    "training.validation_sentences": 0,
}


def _train(
    source: Path, out: Path, processes: int, steps: int = STEPS, settings: dict[str, Any] = EXACT, resume: bool = False
) -> list[float]:
    given = {**settings, "training.processes": processes}
    return [step.loss for step in train_translator([source], out, steps=steps, settings=given, resume=resume)]


def _assert_close(one: Path, other: Path) -> None:
    first, second = read_tensors(one / "model.safetensors"), read_tensors(other / "model.safetensors")
    assert first.keys() == second.keys()
    for name in first:
        torch.testing.assert_close(first[name], second[name], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_every_item_of_a_batch_belongs_to_one_rank(size: int, count: int) -> None:
    items = numpy.arange(count)
    shares = [Group(rank, size).share(items) for rank in range(size)]
    assert sorted(numpy.concatenate(shares).tolist()) == items.tolist()


def test_processes_learn_what_one_learns(pairs_file: Callable[..., Path], tmp_path: Path) -> None:
    source = pairs_file()
    alone = _train(source, tmp_path / "1", 1)
    for processes in (2, 4):
        together = _train(source, tmp_path / str(processes), processes)
        assert together == pytest.approx(alone, rel=1e-5)
        _assert_close(tmp_path / "1", tmp_path / str(processes))
        assert json.loads((tmp_path / str(processes) / "config.json").read_text())["recipe"]["training"]["processes"]
    assert torch.get_num_threads() == 1


def test_a_step_with_fewer_sentences_than_processes(pairs_file: Callable[..., Path], tmp_path: Path) -> None:
    settings = {**EXACT, "training.batch_tokens": 1}  # every pair is a batch of its own
    losses = [_train(pairs_file(), tmp_path / str(processes), processes, 3, settings) for processes in (1, 2)]
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)


def test_a_language_model_of_two_processes(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\n".join(f"number {n} follows number {n - 1} ." for n in range(1, 300)), encoding="utf-8")
    given = {name: value for name, value in EXACT.items() if "coder_layers" not in name and "sentences" not in name}
    settings = {**given, "model.n_layers": 1, "training.sample_tokens": 0}
    losses = []
    for processes in (1, 2):
        run = train_lm(
            [text], tmp_path / str(processes), steps=4, settings={**settings, "training.processes": processes}
        )
        losses.append([step.loss for step in run])
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)


def test_a_run_is_continued_by_another_number_of_processes(pairs_file: Callable[..., Path], tmp_path: Path) -> None:
    source = pairs_file()
    alone = _train(source, tmp_path / "1", 1)
    together: list[float] = []
    for processes, steps in ((2, 3), (1, 2), (3, 3)):
        settings = {**EXACT, "training.processes": processes}
        run = train_translator([source], tmp_path / "2", steps=STEPS, settings=settings, resume=bool(together))
        together += [step.loss for _, step in zip(range(steps), run, strict=False)]
        run.close()  # type: ignore[attr-defined]
    assert together == pytest.approx(alone, rel=1e-5)


def test_a_killed_process_ends_the_run_with_a_checkpoint(pairs_file: Callable[..., Path], tmp_path: Path) -> None:
    source, out = pairs_file(), tmp_path / "out"
    settings = {**EXACT, "training.processes": 3}
    steps = train_translator([source], out, steps=STEPS, settings=settings)
    assert [next(steps).step, next(steps).step] == [1, 2]
    followers = [child for child in psutil.Process().children() if "pellucid.training.replica" in child.cmdline()]
    assert len(followers) == 2
    followers[1].kill()
    with pytest.raises(UserError, match="one of the 3 processes of this training has ended") as caught:
        list(steps)
    assert "--resume" in caught.value.hint
    psutil.wait_procs(followers, timeout=30)
    assert not any(child.is_running() for child in followers)
    reached = max(line["step"] for line in read_metrics(out))
    rest = _train(source, out, 2, resume=True)
    assert len(rest) == STEPS - reached
    assert rest[-1] == pytest.approx(_train(source, tmp_path / "alone", 1)[-1], rel=1e-5)


def test_followers_end_with_a_killed_leader(pairs_file: Callable[..., Path], tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from pellucid.training.train_translator import train_translator
source, out, settings = eval(sys.argv[1])
for step in train_translator([source], out, steps=100_000, settings=settings):
    print(step.step, flush=True)
"""
    arguments = repr((str(pairs_file()), str(tmp_path / "out"), {**EXACT, "training.processes": 2}))
    leader = subprocess.Popen(
        [sys.executable, "-c", program, arguments],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert leader.stdout is not None
    assert leader.stdout.readline() == "1\n"
    followers = psutil.Process(leader.pid).children()
    assert followers
    leader.send_signal(signal.SIGKILL)
    leader.wait()
    leader.stdout.close()
    _, alive = psutil.wait_procs(followers, timeout=30)
    assert not alive


def test_frozen_rows_stay_as_they_are_in_every_process(pairs_file: Callable[..., Path], tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("2 32\n" + "".join(f"{word} {' '.join(['0.25', '-0.5'] * 16)}\n" for word in ("red", "cats")))
    settings = {**EXACT, "model.embeddings": str(vectors), "model.freeze_embeddings": True}
    losses = [_train(pairs_file(), tmp_path / str(processes), processes, 4, settings) for processes in (1, 2)]
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
    _assert_close(tmp_path / "1", tmp_path / "2")


def test_torchrun_starts_the_same_training(pairs_file: Callable[..., Path], tmp_path: Path) -> None:
    source = pairs_file()
    alone = _train(source, tmp_path / "1", 1)
    flags = [part for name, value in EXACT.items() for part in (f"--{name}", str(value))]
    command = ["train", "translator", str(source), "-o", str(tmp_path / "2"), "--steps", str(STEPS), *flags]
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "pellucid"]
    finished = subprocess.run(
        [sys.executable, *launch, *command],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr.count("Saved the") == 1  # only rank 0 speaks
    assert [line["loss"] for line in read_metrics(tmp_path / "2")] == pytest.approx(alone, rel=1e-5)
    _assert_close(tmp_path / "1", tmp_path / "2")

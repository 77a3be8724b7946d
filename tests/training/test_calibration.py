"""Precision and processes are chosen by what is faster where the run is."""

from collections.abc import Sequence
from typing import Any

import numpy
import pytest
import torch
from torch import nn

from pellucid.training import calibration, memory_fit
from pellucid.training.calibration import calibrate
from pellucid.training.config import TrainingConfig
from pellucid.training.replicas import use_threads
from pellucid.training.task import BatchLoss

SECONDS: dict[str, float] = {}
"""How long a step takes by the fake clock, by precision and threads."""


class _Batch:
    target_tokens = tokens = padded_size = 100


class _Task:
    """A task whose steps take as long as `SECONDS` says."""

    def __init__(self, precision: str, model: nn.Linear, clock: "_FakeTime") -> None:
        self.precision, self.model, self.clock = precision, model, clock
        self.loss_value = 5.0

    def plan(self, batch_tokens: int, epoch: int) -> list[Any]:
        return [numpy.arange(4)]

    def batches(self, items: Any, epoch: int, micro_batch_tokens: int) -> Sequence[_Batch]:
        return [_Batch()]

    def loss(self, batch: _Batch, progress: float) -> BatchLoss:
        self.clock.now += SECONDS[f"{self.precision}, {torch.get_num_threads()}"]
        return BatchLoss(self.model.weight.sum(), 100 * self.loss_value)


class _FakeTime:
    now = 0.0

    def perf_counter(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now


def _calibrate(monkeypatch: pytest.MonkeyPatch, seconds: dict[str, float], wrong: float = 0.0, **config: Any) -> Any:
    time, model = _FakeTime(), nn.Linear(2, 2)
    monkeypatch.setattr(calibration, "time", time)
    monkeypatch.setattr("pellucid.training.clock.time", time)
    monkeypatch.setitem(globals(), "SECONDS", seconds)

    def make_task(precision: str) -> Any:
        task = _Task(precision, model, time)
        task.loss_value += wrong if precision == "bfloat16" else 0.0
        return task

    with use_threads(2):
        found = calibrate(TrainingConfig(**{"minutes": 5, "adapt": True, **config}), model, make_task)
        assert torch.get_num_threads() == 2
    return found


SLOW_BFLOAT16 = {"float32, 1": 1.0, "bfloat16, 1": 1.8, "float32, 2": 0.6}
FAST_BFLOAT16 = {"float32, 1": 1.0, "bfloat16, 1": 0.5, "bfloat16, 2": 0.3}


def test_bfloat16_is_left_where_it_is_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _calibrate(monkeypatch, SLOW_BFLOAT16)
    assert (found.precision, found.processes) == ("float32", 2)
    assert found.tokens_per_second == pytest.approx(200)
    assert (
        "float32 on 1 thread 10,000 ms, bfloat16 on 1 thread 18,000 ms, float32 on 2 threads 6,000" in found.as_line()
    )


def test_bfloat16_is_taken_where_it_is_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _calibrate(monkeypatch, FAST_BFLOAT16).precision == "bfloat16"


def test_bfloat16_that_computes_another_loss_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _calibrate(monkeypatch, {**FAST_BFLOAT16, "float32, 2": 0.6}, wrong=0.2).precision == "float32"


def test_threads_are_kept_where_they_are_much_faster_than_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _calibrate(monkeypatch, {"float32, 1": 1.0, "float32, 2": 0.25}, precision="float32")
    assert found.processes == 1
    assert found.tokens_per_second == pytest.approx(400)


def test_processes_are_taken_where_threads_are_hardly_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _calibrate(monkeypatch, {"float32, 1": 1.0, "float32, 2": 0.45}, precision="float32").processes == 2


def test_what_is_given_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _calibrate(monkeypatch, {"float32, 2": 0.5}, precision="float32", processes=1)
    assert (found.processes, list(found.milliseconds)) == (1, ["float32 on 2 threads"])
    found = _calibrate(monkeypatch, {"float32, 1": 1.0}, precision="float32", processes=4)
    assert (found.processes, found.tokens_per_second) == (4, pytest.approx(400))


def test_a_short_run_stays_in_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _calibrate(monkeypatch, SLOW_BFLOAT16, minutes=0.4).processes == 1
    seconds = {name: value / 1000 for name, value in SLOW_BFLOAT16.items()}
    assert _calibrate(monkeypatch, seconds, minutes=None, steps=10, batch_tokens=1000).processes == 1
    assert _calibrate(monkeypatch, seconds, minutes=None, steps=9000, batch_tokens=1000).processes == 2


def test_nothing_is_tried_where_nothing_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _calibrate(monkeypatch, {}, precision="float32", processes=2, minutes=None, steps=10)
    assert (found.processes, found.milliseconds) == (2, {})


def test_copies_that_do_not_fit_into_memory_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_fit, "free_bytes", lambda device: 100.0)
    found = _calibrate(monkeypatch, {"float32, 2": 0.6}, precision="float32")
    assert (found.processes, list(found.milliseconds)) == (1, ["float32 on 2 threads"])

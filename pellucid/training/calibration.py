"""Before a run, measure with its own model what is faster on this machine as it is now: precision, processes, tokens.

What a processor says of itself is no guide: some that have instructions for bfloat16 are slower in it, and threads that
meet at every operation stand still as soon as another program takes one of the cores.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

import torch
from torch import nn

from pellucid.training.clock import Clock
from pellucid.training.config import TrainingConfig
from pellucid.training.memory_fit import fits_several
from pellucid.training.optimizer import adamw
from pellucid.training.replicas import use_threads
from pellucid.training.task import Batch, Task

__all__ = ["Calibration", "MakeTask", "calibrate"]

PRECISION_TOKENS, SHARE_TOKENS = 256, 1024
"""Tokens, about, that a core computes in a trial: to compare precisions, and at most in its share of a batch."""

REPEATS = 5
ENOUGH_SECONDS = 1.0
"""Trials that have taken this long are not repeated."""

CLEARLY_FASTER = 0.8
"""Share of the time in float32 at which bfloat16 is taken: so far from 1 that equal commands choose equally."""

WORTH_THREADS = 1.25
"""Threads are kept where processes take this many times as long. Up to there processes are taken: when another program
takes a core, they keep most of their speed, and threads lose most of it (docs/decisions/0019-one-process-a-core.md)."""

WORTH_SECONDS = 30.0
"""Shorter runs stay in one process: starting others takes a few seconds."""

CLOSE_ENOUGH = 0.02
"""Largest relative difference of a loss in bfloat16 from that in float32."""

MakeTask = Callable[[str], Task[Any]]
"""Makes the task of a run in a precision, always for the same model."""


@dataclass(frozen=True)
class Calibration:
    """What was measured, and what follows from it.

    Attributes:
        precision: float32 or bfloat16.
        processes: how many train together on this machine.
        tokens_per_second: target tokens per second of the run's clock, with these choices; 0 if nothing was measured.
        milliseconds: per 1,000 target tokens, by what was tried, such as `float32 on 1 thread`.
    """

    precision: str
    processes: int
    tokens_per_second: float
    milliseconds: dict[str, float]

    def as_line(self) -> str:
        """Say what was chosen and why, for the log."""
        found = ", ".join(f"{name} {value:,.0f} ms" for name, value in self.milliseconds.items())
        group = f" in {self.processes} processes of one thread each" if self.processes > 1 else ""
        return f"Training in {self.precision}{group} (measured per 1,000 tokens: {found})"


def calibrate(config: TrainingConfig, model: nn.Module, make_task: MakeTask) -> Calibration:
    """Time steps of a run in each precision, and in one process and in several.

    Args:
        config: `precision` and `processes` are not tried where it gives them.
        model: of the run's sizes, initialised and on its device; the trials spend its weights.
        make_task: makes the run's task in a precision.
    """
    trial, cores = _Trial(config, model), torch.get_num_threads()
    several = config.processes or cores
    fits = fits_several(model, config.average_decay is not None, several, trial.device)
    if trial.device.type != "cpu" or (config.processes is None and not fits):
        several = 1
    undecided = config.precision == "auto" or (several > 1 and config.processes is None)
    if not undecided and not (config.adapt and config.minutes):
        return Calibration(config.precision, several, 0.0, {})
    # Each process computes its share at the same time as the others, and waits for the sum of the gradients.
    whole = min(config.batch_tokens, SHARE_TOKENS * several)
    with use_threads(1 if several > 1 else cores):
        precision = config.precision if config.precision != "auto" else _choose_precision(trial, make_task)
        task = make_task(precision)
        share = trial.time(precision, task, whole // several)
    exchange = trial.exchange_seconds(several) / config.batch_tokens if several > 1 else 0.0
    chosen = _Cost(share.wall / several + exchange, share.clock / several + exchange)
    if several > 1 and config.processes is None:
        together = trial.time(precision, task, whole)
        if chosen.wall > WORTH_THREADS * together.wall or _length(config, together.wall) < WORTH_SECONDS:
            several, chosen = 1, together
    return Calibration(precision, several, 1 / chosen.clock, trial.milliseconds)


def _length(config: TrainingConfig, seconds_per_token: float) -> float:
    """Estimate how long the run will take, seconds."""
    by_steps = config.steps * config.batch_tokens * seconds_per_token if config.steps else math.inf
    return min(by_steps, 60 * config.minutes if config.minutes else math.inf)


class _Cost(NamedTuple):
    """Median seconds per target token: by the wall, and by the clock of the run."""

    wall: float
    clock: float


def _choose_precision(trial: "_Trial", make_task: MakeTask) -> str:
    """Compare bfloat16 with float32: it must be clearly faster, and its loss close."""
    plain, rounded = make_task("float32"), make_task("bfloat16")
    exact, near = trial.loss(plain), trial.loss(rounded)
    slow = trial.time("float32", plain, PRECISION_TOKENS)
    fast = trial.time("bfloat16", rounded, PRECISION_TOKENS)
    clearly = fast.wall < CLEARLY_FASTER * slow.wall
    return "bfloat16" if clearly and abs(near - exact) <= CLOSE_ENOUGH * abs(exact) else "float32"


class _Trial:
    """Steps of which only the time is wanted."""

    def __init__(self, config: TrainingConfig, model: nn.Module) -> None:
        self.device = next(model.parameters()).device
        self.milliseconds: dict[str, float] = {}
        self._config = config
        self._model = model
        self._optimizer = adamw(model, config)

    def loss(self, task: Task[Any]) -> float:
        """Compute the loss of the trial batch, nats per target token."""
        with torch.no_grad():
            found = [
                (task.loss(batch, 0.0).nll, batch.target_tokens) for batch in self._batches(task, PRECISION_TOKENS)
            ]
        return sum(nll for nll, _ in found) / max(1, sum(tokens for _, tokens in found))

    def time(self, precision: str, task: Task[Any], tokens: int) -> _Cost:
        """Time whole steps of about so many tokens, with the threads of now."""
        batches = self._batches(task, tokens)
        targets = max(1, sum(batch.target_tokens for batch in batches))
        self._step(task, batches)  # warms up
        clock = Clock(self._config.clock)
        walls: list[float] = []
        clocks: list[float] = []
        while len(walls) < REPEATS and sum(walls) < ENOUGH_SECONDS:
            began, clock_began = time.perf_counter(), clock.seconds()
            self._step(task, batches)
            walls.append(time.perf_counter() - began)
            clocks.append(clock.seconds() - clock_began)
        threads = torch.get_num_threads()
        self.milliseconds[f"{precision} on {threads} thread{'s' * (threads > 1)}"] = 1e6 * median(walls) / targets
        return _Cost(median(walls) / targets, max(median(clocks), 1e-9) / targets)

    def exchange_seconds(self, processes: int) -> float:
        """Estimate the time to sum the gradients of several processes: two copies for each."""
        weights = sum(weight.numel() for weight in self._model.parameters())
        one, other = torch.zeros(weights), torch.zeros(weights)
        began = time.perf_counter()
        one.copy_(other)
        return 2 * processes * (time.perf_counter() - began)

    def _batches(self, task: Task[Any], tokens: int) -> Sequence[Batch]:
        """Load the first items of an epoch, about so many tokens."""
        items = task.plan(self._config.batch_tokens, 0)[0]
        chosen = list(task.batches(items, 0, min(self._config.micro_batch_tokens or tokens, tokens)))
        while len(chosen) > 1 and sum(batch.tokens for batch in chosen) > tokens:
            chosen.pop()
        return chosen

    def _step(self, task: Task[Any], batches: Sequence[Batch]) -> None:
        self._model.train()
        for batch in batches:
            task.loss(batch, 0.0).loss.backward()
        self._optimizer.step()
        self._optimizer.zero_grad()
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

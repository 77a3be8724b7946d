"""A training run: the state of the training loop, and how far the run has progressed."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from pellucid.training.clock import Clock
from pellucid.training.config import TrainingConfig
from pellucid.training.optimizer import WeightAverage
from pellucid.training.state import TrainingState
from pellucid.training.task import Task

__all__ = ["Run"]

MINUTES_PER_VALIDATION = 2


@dataclass
class Run:
    """The state of a training run.

    Attributes:
        config: length, batches, learning rate and so on.
        model, optimizer, average: updated by every step; `average` is None if no weight average is kept.
        task: batches, loss and validation.
        micro_batch_tokens: tokens per forward pass.
        clock: time spent on the run, earlier sessions included.
        folder: the model folder, which metrics and checkpoints are written to.
        state: counters after the last step.
    """

    config: TrainingConfig
    model: nn.Module
    optimizer: torch.optim.Optimizer
    average: WeightAverage | None
    task: Task[Any]
    micro_batch_tokens: int
    clock: Clock
    folder: Path
    state: TrainingState = field(default_factory=TrainingState)

    def progress(self) -> float:
        """Share of the run that has passed, by steps or by time, whichever is further."""
        return self._share_since(0.0)

    def schedule_progress(self) -> float:
        """Share of the run that has passed since the first step, which schedules follow."""
        return self._share_since(self.state.prepared)

    def _share_since(self, seconds: float) -> float:
        by_steps = self.state.step / self.config.steps if self.config.steps else 0.0
        by_time = 0.0
        if self.config.minutes:
            left = 60 * self.config.minutes - seconds
            by_time = (self.clock.seconds() - seconds) / left if left > 0 else 1.0
        return min(1.0, max(by_steps, by_time))

    def averaged_weights(self) -> dict[str, Tensor] | None:
        """Averaged weights by name; None if no average is kept, or before its first update."""
        return self.average.weights if self.average is not None and self.average.updates else None

    def validations_due(self) -> int:
        """Number of validations that the run should have had by now."""
        wanted = self.config.validations
        if self.config.minutes:  # short runs spend their time on training
            wanted = min(wanted, max(1, int(self.config.minutes / MINUTES_PER_VALIDATION)))
        return math.floor(self.progress() * wanted + 1e-9)

    def is_over(self) -> bool:
        """Whether no step is left."""
        return self.progress() >= 1.0 or self.stopped_early()

    def stopped_early(self) -> bool:
        """Whether the validation loss has not improved for `patience` validations."""
        return self.config.patience is not None and self.state.since_best >= self.config.patience

"""A training run: the state of the training loop, and how far the run has progressed."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from pellucid.distributed import Group
from pellucid.training.clock import Clock
from pellucid.training.config import TrainingConfig, TranslatorTrainingConfig
from pellucid.training.optimizer import WeightAverage
from pellucid.training.state import TrainingState
from pellucid.training.task import Task

__all__ = ["Run"]

FIRST_VALIDATION = 100
"""Step of the first validation of a run that stops at a goal."""

MORE_STEPS = 1.25
"""Each next validation of such a run comes after this many times the steps; one more at its end."""


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
        group: the processes that train together.
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
    group: Group = field(default_factory=Group)

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
        if isinstance(self.config, TranslatorTrainingConfig) and self.config.stop_at_exact:
            passed = math.log(max(self.state.step, 1) / FIRST_VALIDATION) / math.log(MORE_STEPS)
            return max(0, math.floor(passed) + 1) + (self.progress() >= 1.0)
        return math.floor(self.progress() * self.config.validations + 1e-9)

    def validation_affordable(self) -> bool:
        """Whether one more validation as long as the last keeps all of them within a tenth of the time."""
        state = self.state
        if self.config.steps or not self.config.minutes:
            return True  # the same steps validate at the same places, however fast the machine is
        return state.validation_seconds + state.last_validation_seconds <= self.clock.seconds() / 10

    def is_over(self) -> bool:
        """Whether no step is left."""
        return self.progress() >= 1.0 or self.stopped_early()

    def stopped_early(self) -> bool:
        """Whether the last validation was good enough, or the loss has not improved for `patience` validations."""
        impatient = self.config.patience is not None and self.state.since_best >= self.config.patience
        return impatient or self.is_good()

    def is_good(self) -> bool:
        """Whether the last validation reached `stop_at_exact`."""
        wanted = self.config.stop_at_exact if isinstance(self.config, TranslatorTrainingConfig) else None
        return wanted is not None and self.state.exact is not None and self.state.exact >= wanted

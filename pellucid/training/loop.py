"""The training loop: batches in, better weights out, one record a step."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pellucid.errors import UserError
from pellucid.randomness import derive_seed
from pellucid.training.clock import Clock
from pellucid.training.config import TrainingConfig
from pellucid.training.optimizer import WeightAverage, set_learning_rate
from pellucid.training.schedule import learning_rate
from pellucid.training.state import Step, TrainingState, Validation
from pellucid.training.task import Task

__all__ = ["Run", "train"]

CHECKPOINT_SECONDS = 600.0
MINUTES_PER_VALIDATION = 2


class Observer(Protocol):
    """What a run does beside training: it measures, writes checkpoints and lines of metrics."""

    def validate(self, run: "Run") -> Validation | None:
        """Measure the model on held-out text."""

    def checkpoint(self, run: "Run") -> None:
        """Write all that is needed to go on."""

    def log(self, step: Step, run: "Run") -> None:
        """Write a line of metrics."""


@dataclass
class Run:
    """All that a training run works on.

    Attributes:
        model, optimizer, average: what a step changes.
        task: what it learns from, and what is made small.
        micro_batch_tokens: how many tokens pass at once.
        clock: of the run, earlier sittings included.
        observer: measures and keeps the run.
        state: counters after the last step.
    """

    config: TrainingConfig
    model: nn.Module
    optimizer: torch.optim.Optimizer
    average: WeightAverage | None
    task: Task[Any]
    micro_batch_tokens: int
    clock: Clock
    observer: Observer
    state: TrainingState = field(default_factory=TrainingState)

    def progress(self) -> float:
        """Return the share of the run that has passed, by steps or by time, whichever is further."""
        return self._share_since(0.0)

    def schedule_progress(self) -> float:
        """Return `progress` without what was prepared before the first update: what schedules go by."""
        return self._share_since(self.state.prepared)

    def _share_since(self, seconds: float) -> float:
        by_steps = self.state.step / self.config.steps if self.config.steps else 0.0
        by_time = 0.0
        if self.config.minutes:
            left = 60 * self.config.minutes - seconds
            by_time = (self.clock.seconds() - seconds) / left if left > 0 else 1.0
        return min(1.0, max(by_steps, by_time))

    def averaged(self) -> dict[str, Tensor] | None:
        """Return the averaged weights; None if none are wanted, or before the first update of the average."""
        return self.average.weights if self.average is not None and self.average.updates else None

    def validations_due(self) -> int:
        """Return how many validations the run should have had by now."""
        wanted = self.config.validations
        if self.config.minutes:  # a short run has better things to do with its time
            wanted = min(wanted, max(1, int(self.config.minutes / MINUTES_PER_VALIDATION)))
        return math.floor(self.progress() * wanted + 1e-9)

    def is_over(self) -> bool:
        """Tell whether there is no step left to make."""
        return self.progress() >= 1.0 or self.stopped_early()

    def stopped_early(self) -> bool:
        """Tell whether validation has not become better for too long."""
        return self.config.patience is not None and self.state.since_best >= self.config.patience


class Losses(NamedTuple):
    """Of one update, in nats a target token."""

    nll: float
    guided: float
    tokens: int
    padding: float


def train(run: Run) -> Iterator[Step]:
    """Make updates until the run's steps or minutes are over; yield a record of each.

    Closing the generator between two steps writes a checkpoint.

    Raises:
        UserError: if the loss or a gradient is not finite; weights and checkpoints stay as they were before the step.
    """
    config, model = run.config, run.model
    last_checkpoint = run.clock.seconds()
    plan = run.task.plan(config.batch_tokens, run.state.epoch)
    if run.state.position >= len(plan):  # resumed with larger batches
        run.state = replace(run.state, epoch=run.state.epoch + 1, position=0)
        plan = run.task.plan(config.batch_tokens, run.state.epoch)
    if not run.state.step:
        run.state = replace(run.state, prepared=last_checkpoint)
    progress, share = run.progress(), run.schedule_progress()
    while progress < 1.0 and not run.stopped_early():
        began = run.clock.seconds()
        step, epoch = run.state.step + 1, run.state.epoch
        model.train()
        # Dropout's numbers are a function of (seed, step): a resumed run draws the same.
        torch.manual_seed(derive_seed(config.seed, "dropout", step))
        losses = accumulate_gradients(run, plan[run.state.position], share)
        norm = float(nn.utils.clip_grad_norm_(model.parameters(), config.clip_norm or math.inf, foreach=True))
        _check_finite(losses.nll, norm, step)
        rate = learning_rate(config, step, share)
        set_learning_rate(run.optimizer, rate)
        run.optimizer.step()
        run.optimizer.zero_grad()
        if run.average is not None and step % config.average_every == 0:
            run.average.update()
        run.state = _counted(run, losses, began)
        if run.state.position == len(plan):
            run.state = replace(run.state, epoch=epoch + 1, position=0)
            plan = run.task.plan(config.batch_tokens, epoch + 1)
        validation = _validate_if_due(run)
        before, progress, share = progress, run.progress(), run.schedule_progress()
        checkpoint = validation is not None or _checkpoint_due(run, before, progress, last_checkpoint)
        record = Step(
            step=step,
            epoch=epoch,
            loss=losses.nll,
            guided_loss=losses.guided,
            learning_rate=rate,
            gradient_norm=norm,
            tokens=run.state.tokens,
            padding=losses.padding,
            seconds=run.state.seconds,
            tokens_per_second=losses.tokens / max(run.state.seconds - began, 1e-9),
            progress=progress,
            validation=validation,
            checkpoint=checkpoint,
        )
        if step % config.log_steps == 0 or validation is not None or progress >= 1.0:
            run.observer.log(record, run)
            run.state = replace(run.state, logged_loss=0.0, logged_steps=0, logged_seconds=0.0, logged_tokens=0)
        if checkpoint:
            _write_checkpoint(run)
            last_checkpoint = run.clock.seconds()
        try:
            yield record
        except GeneratorExit:
            if not checkpoint:
                _write_checkpoint(run)
            raise


def accumulate_gradients(run: Run, items: NDArray[numpy.int64], share: float) -> Losses:
    """Add the gradient of a step's loss, in as many parts as memory asks for; divided by the step's target tokens."""
    batches = run.task.batches(items, run.state.epoch, run.micro_batch_tokens)
    # Windows in the middle of a long prompt predict nothing.
    tokens = max(1, sum(batch.target_tokens for batch in batches))
    nll_sum = guided_sum = 0.0
    for batch in batches:
        found = run.task.loss(batch, share)
        (found.loss / tokens).backward()
        nll_sum += found.nll
        guided_sum += found.guided
    padding = 1 - sum(batch.tokens for batch in batches) / sum(batch.padded_size for batch in batches)
    return Losses(nll_sum / tokens, guided_sum / tokens, tokens, padding)


def _counted(run: Run, losses: Losses, began: float) -> TrainingState:
    state, seconds = run.state, run.clock.seconds()
    return replace(
        state,
        step=state.step + 1,
        position=state.position + 1,
        tokens=state.tokens + losses.tokens,
        seconds=seconds,
        logged_loss=state.logged_loss + losses.nll,
        logged_steps=state.logged_steps + 1,
        logged_seconds=state.logged_seconds + seconds - began,
        logged_tokens=state.logged_tokens + losses.tokens,
    )


def _check_finite(loss: float, gradient_norm: float, step: int) -> None:
    if not (math.isfinite(loss) and math.isfinite(gradient_norm)):
        raise _not_finite(step, f"loss {loss}, gradient norm {gradient_norm}")


def _check_weights(run: Run) -> None:
    """Refuse weights that an update has driven out of the finite numbers; the step after would notice too late."""
    for name, weight in run.model.named_parameters():
        if not bool(torch.isfinite(weight).all()):
            raise _not_finite(run.state.step, f"{name} after the update")


def _not_finite(step: int, what: str) -> UserError:
    return UserError(
        f"training left the finite numbers at step {step}: {what}",
        where=f"step {step}",
        hint="lower --training.learning_rate, lengthen --training.warmup_steps, or try --training.precision "
        "float32; the last checkpoint is untouched",
    )


def _write_checkpoint(run: Run) -> None:
    _check_weights(run)
    run.observer.checkpoint(run)


def _validate_if_due(run: Run) -> Validation | None:
    due = run.validations_due()
    if due <= run.state.validations:
        return None
    _check_weights(run)
    validation = run.observer.validate(run)
    if validation is None:
        run.state = replace(run.state, validations=due)
        return None
    if not math.isfinite(validation.loss):
        raise _not_finite(run.state.step, f"validation loss {validation.loss}")
    # Where time runs in leaps several may be due at once; they are one.
    run.state = replace(run.state.after_validation(validation.loss), validations=due)
    return validation


def _checkpoint_due(run: Run, before: float, now: float, last: float) -> bool:
    every = run.config.checkpoint_steps
    asked = every is not None and run.state.step % every == 0
    # However rare the asked ones are: no more than a tenth of the run, or ten minutes, is ever lost.
    tenth = math.floor(10 * now + 1e-9) > math.floor(10 * before + 1e-9)
    return asked or tenth or run.clock.seconds() - last >= CHECKPOINT_SECONDS

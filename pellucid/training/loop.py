"""The training loop: batches in, better weights out, one record per step."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy
import torch
from numpy.typing import NDArray
from torch import nn

from pellucid.errors import UserError
from pellucid.randomness import derive_seed
from pellucid.training.optimizer import set_learning_rate
from pellucid.training.run import Run
from pellucid.training.run_folder import log_step, save_run, validate
from pellucid.training.schedule import learning_rate
from pellucid.training.state import Step, TrainingState, Validation

__all__ = ["train"]

CHECKPOINT_SECONDS = 600.0


class Losses(NamedTuple):
    """Losses and sizes of one step.

    Attributes:
        nll: cross-entropy without smoothing, nats per target token.
        guided: guided-alignment loss, nats per target token.
        tokens: target tokens.
        padding: share of positions that hold padding.
    """

    nll: float
    guided: float
    tokens: int
    padding: float


def train(run: Run) -> Iterator[Step]:
    """Train until the run's steps or minutes are over, yielding a record of every step.

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
    progress, schedule_progress = run.progress(), run.schedule_progress()
    while progress < 1.0 and not run.stopped_early():
        began = run.clock.seconds()
        step, epoch = run.state.step + 1, run.state.epoch
        model.train()
        torch.manual_seed(derive_seed(config.seed, "dropout", step))  # a resumed run draws the same dropout masks
        losses = accumulate_gradients(run, plan[run.state.position], schedule_progress)
        norm = float(nn.utils.clip_grad_norm_(model.parameters(), config.clip_norm or math.inf, foreach=True))
        _check_finite(losses.nll, norm, step)
        rate = learning_rate(config, step, schedule_progress)
        set_learning_rate(run.optimizer, rate)
        run.optimizer.step()
        run.optimizer.zero_grad()
        if run.average is not None and step % config.average_every == 0:
            run.average.update()
        run.state = _advance(run, losses, began)
        if run.state.position == len(plan):
            run.state = replace(run.state, epoch=epoch + 1, position=0)
            plan = run.task.plan(config.batch_tokens, epoch + 1)
        validation = _validate_if_due(run)
        before, progress, schedule_progress = progress, run.progress(), run.schedule_progress()
        checkpoint = validation is not None or _is_checkpoint_due(run, before, progress, last_checkpoint)
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
            log_step(run, record)
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


def accumulate_gradients(run: Run, items: NDArray[numpy.int64], schedule_progress: float) -> Losses:
    """Add up the gradient of a step's mean loss per target token, over as many forward passes as memory requires."""
    batches = run.task.batches(items, run.state.epoch, run.micro_batch_tokens)
    tokens = max(1, sum(batch.target_tokens for batch in batches))  # windows inside a long prompt have no targets
    nll_sum = guided_sum = 0.0
    for batch in batches:
        found = run.task.loss(batch, schedule_progress)
        (found.loss / tokens).backward()
        nll_sum += found.nll
        guided_sum += found.guided
    padding = 1 - sum(batch.tokens for batch in batches) / sum(batch.padded_size for batch in batches)
    return Losses(nll_sum / tokens, guided_sum / tokens, tokens, padding)


def _advance(run: Run, losses: Losses, began: float) -> TrainingState:
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
        raise _not_finite(f"loss {loss}, gradient norm {gradient_norm}", step)


def _not_finite(what: str, step: int) -> UserError:
    return UserError(
        f"training diverged: NaN or infinity at step {step} ({what})",
        where=f"step {step}",
        hint="Lower --training.learning_rate, raise --training.warmup_steps, or try --training.precision float32; the "
        "last checkpoint is untouched.",
    )


def _check_weights(run: Run) -> None:
    """Reject non-finite weights before they are validated or saved; the next step would notice only afterwards."""
    for name, weight in run.model.named_parameters():
        if not bool(torch.isfinite(weight).all()):
            raise _not_finite(f"{name} after the update", run.state.step)


def _write_checkpoint(run: Run) -> None:
    _check_weights(run)
    save_run(run)


def _validate_if_due(run: Run) -> Validation | None:
    due = run.validations_due()
    if due <= run.state.validations:
        return None
    _check_weights(run)
    validation = validate(run)
    if validation is None:
        run.state = replace(run.state, validations=due)
        return None
    if not math.isfinite(validation.loss):
        raise _not_finite(f"validation loss {validation.loss}", run.state.step)
    # When a single step covers several due validations, they count as one.
    run.state = replace(run.state.after_validation(validation.loss), validations=due)
    return validation


def _is_checkpoint_due(run: Run, before: float, now: float, last_checkpoint: float) -> bool:
    every = run.config.checkpoint_steps
    by_steps = every is not None and run.state.step % every == 0
    # However large `checkpoint_steps` is, an interruption loses at most a tenth of the run, or ten minutes.
    by_progress = math.floor(10 * now + 1e-9) > math.floor(10 * before + 1e-9)
    return by_steps or by_progress or run.clock.seconds() - last_checkpoint >= CHECKPOINT_SECONDS

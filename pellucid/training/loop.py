"""The training loop: batches in, better weights out, one record per step."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import numpy
import torch
from numpy.typing import NDArray
from torch import nn

from pellucid.distributed import Group, LostRankError
from pellucid.errors import UserError
from pellucid.randomness import derive_seed
from pellucid.training.optimizer import set_learning_rate
from pellucid.training.run import Run
from pellucid.training.run_folder import log_step, save_run, validate
from pellucid.training.schedule import learning_rate
from pellucid.training.state import Step, TrainingState, Validation

__all__ = ["follow", "train"]

CHECKPOINT_SECONDS = 600.0


class Update(NamedTuple):
    """What every process of a group must know of the next step.

    Attributes:
        step: its number, from 1; 0 if there is none any more.
        epoch, position: of its batch.
        learning_rate: of the update.
        schedule_progress: share of the schedule that has passed.
    """

    step: int
    epoch: int = 0
    position: int = 0
    learning_rate: float = 0.0
    schedule_progress: float = 0.0

    def announced(self, group: Group) -> "Update":
        """Send rank 0's to every rank; return it."""
        step, epoch, position, *rest = group.announce(self)
        return Update(int(step), int(epoch), int(position), *rest)


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

    Closing the generator between two steps writes a checkpoint. In a group of processes rank 0 runs it; the others
    `follow`.

    Raises:
        UserError: if the loss or a gradient is not finite, or another process of the group ends; weights and
            checkpoints stay as they were before the step.
    """
    config = run.config
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
        rate = learning_rate(config, step, schedule_progress)
        with _lost_rank_explained(run):
            update = Update(step, epoch, run.state.position, rate, schedule_progress).announced(run.group)
            losses, norm = make_update(run, plan[update.position], update)
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


def follow(run: Run) -> None:
    """Compute this rank's share of every step that rank 0 announces, until it announces the end.

    Raises:
        LostRankError: if another process of the group ends.
    """
    epoch, plan = -1, []
    while (update := Update(0).announced(run.group)).step:
        if update.epoch != epoch:
            epoch, plan = update.epoch, run.task.plan(run.config.batch_tokens, update.epoch)
        make_update(run, plan[update.position], update)


def make_update(run: Run, items: NDArray[numpy.int64], update: Update) -> tuple[Losses, float]:
    """Compute the gradient of a batch and update the weights, on every rank alike.

    Returns:
        The losses of the batch, and the norm of the gradient before clipping.
    """
    config, model, rank = run.config, run.model, run.group.rank
    model.train()
    # A resumed run draws the same dropout masks; each rank draws its own.
    torch.manual_seed(derive_seed(config.seed, "dropout", update.step, *([rank] if rank else [])))
    losses = accumulate_gradients(run, items, update)
    norm = float(nn.utils.clip_grad_norm_(model.parameters(), config.clip_norm or math.inf, foreach=True))
    _check_finite(losses.nll, norm, update.step)
    set_learning_rate(run.optimizer, update.learning_rate)
    run.optimizer.step()
    run.optimizer.zero_grad()
    return losses, norm


def accumulate_gradients(run: Run, items: NDArray[numpy.int64], update: Update) -> Losses:
    """Add up the gradient of a step's mean loss per target token, over all ranks and as many passes as memory requires.

    The mean is over the tokens of the whole batch, so that the number of ranks changes nothing but rounding.
    """
    own = run.group.share(items)
    batches = run.task.batches(own, update.epoch, run.micro_batch_tokens) if len(own) else []
    (targets,) = run.group.sum(sum(batch.target_tokens for batch in batches))
    tokens = max(1, int(targets))  # windows inside a long prompt have no targets
    nll_sum = guided_sum = 0.0
    for batch in batches:
        found = run.task.loss(batch, update.schedule_progress)
        (found.loss / tokens).backward()
        nll_sum += found.nll
        guided_sum += found.guided
    run.group.sum_gradients(run.model.parameters())
    used, padded = sum(batch.tokens for batch in batches), sum(batch.padded_size for batch in batches)
    nll_sum, guided_sum, used, padded = run.group.sum(nll_sum, guided_sum, used, padded)
    return Losses(nll_sum / tokens, guided_sum / tokens, tokens, 1 - used / padded)


@contextmanager
def _lost_rank_explained(run: Run) -> Iterator[None]:
    """Write a checkpoint if another process of the group ends: the step is lost, the weights before it are not.

    Raises:
        UserError: if one has ended.
    """
    try:
        yield
    except LostRankError as error:
        run.optimizer.zero_grad()
        if run.state.step:
            _write_checkpoint(run)
        raise UserError(
            f"one of the {run.group.size} processes of this training has ended",
            where=f"step {run.state.step + 1}",
            hint=f"The checkpoint of step {run.state.step:,} is kept: the same command with --resume continues from it."
            if run.state.step
            else "Nothing is lost before the first step: run the same command again.",
        ) from error


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
    """Reject non-finite weights before they are validated or saved; otherwise only the next step would notice."""
    for name, weight in run.model.named_parameters():
        if not bool(torch.isfinite(weight).all()):
            raise _not_finite(f"{name} after the update", run.state.step)


def _write_checkpoint(run: Run) -> None:
    _check_weights(run)
    save_run(run)


def _validate_if_due(run: Run) -> Validation | None:
    due = run.validations_due()
    if due <= run.state.validations or not run.validation_affordable():
        return None
    began = run.clock.seconds()
    _check_weights(run)
    validation = validate(run)
    if validation is None:
        run.state = replace(run.state, validations=due)
        return None
    if not math.isfinite(validation.loss):
        raise _not_finite(f"validation loss {validation.loss}", run.state.step)
    # When a single step covers several due validations, they count as one.
    seconds = run.clock.seconds() - began
    run.state = replace(
        run.state.after_validation(validation.loss),
        validations=due,
        validation_seconds=run.state.validation_seconds + seconds,
        last_validation_seconds=seconds,
        exact=validation.exact,
    )
    return validation


def _is_checkpoint_due(run: Run, before: float, now: float, last_checkpoint: float) -> bool:
    every = run.config.checkpoint_steps
    by_steps = every is not None and run.state.step % every == 0
    # However large `checkpoint_steps` is, an interruption loses at most a tenth of the run, or ten minutes.
    by_progress = math.floor(10 * now + 1e-9) > math.floor(10 * before + 1e-9)
    return by_steps or by_progress or run.clock.seconds() - last_checkpoint >= CHECKPOINT_SECONDS

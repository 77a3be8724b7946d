"""A run's folder: lines of metrics, checkpoints, and the model as it stands, always whole."""

import contextlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from pellucid.errors import UserError
from pellucid.models.weights import save_weights
from pellucid.plurals import pluralize
from pellucid.storage.checkpoints import (
    Checkpoint,
    checkpoint_step,
    latest_checkpoint,
    prune_checkpoints,
    read_checkpoint,
    write_checkpoint,
)
from pellucid.storage.files import DiskFullError
from pellucid.storage.metrics import append_metrics, truncate_metrics
from pellucid.storage.model_folder import read_json
from pellucid.training.clock import Clock
from pellucid.training.loop import Run
from pellucid.training.state import Step, TrainingState, Validation

__all__ = [
    "AVERAGE_PREFIX",
    "RunFolder",
    "explain_finished_run",
    "explain_full_disk",
    "is_finished",
    "restore",
    "swap_weights",
]

AVERAGE_PREFIX = "averaged."  # what names of averaged weights begin with in a checkpoint


class RunFolder:
    """Observes a run: measures it, and keeps it in a folder.

    Args:
        folder: of the model.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def validate(self, run: Run) -> Validation | None:
        """Measure the averaged weights on what is held out."""
        with swap_weights(run.model, run.averaged()):
            loss = run.task.validation_loss()
            if loss is None:
                return None
            judged = run.task.measure(loss, run.state.validations)
        best = run.state.best_loss
        return Validation(loss, best is None or loss < best, *judged)

    def checkpoint(self, run: Run) -> None:
        """Write a checkpoint and the model as it stands; remove old checkpoints."""
        weights = {name: weight.detach() for name, weight in run.model.named_parameters()}
        averaged = (
            {AVERAGE_PREFIX + name: weight for name, weight in run.average.weights.items()} if run.average else {}
        )
        # By the clock of now: a validation since the step took time too, and a finished run stays finished.
        state = {**run.state.as_dict(), "seconds": run.clock.seconds()}
        state |= {"average_updates": run.average.updates if run.average else 0, "length": _length(run)}
        remembered = _optimizer_tensors(run.optimizer)
        write_checkpoint(self.folder, Checkpoint(run.state.step, {**weights, **averaged}, remembered, state))
        prune_checkpoints(self.folder, run.config.keep_checkpoints, run.state.best_step or None)
        with swap_weights(run.model, run.averaged()):
            save_weights(run.model, self.folder / "model.safetensors")

    def log(self, step: Step, run: Run) -> None:
        """Add a line to metrics.jsonl: loss and rate since the line before, all else of this step."""
        state = run.state
        line: dict[str, Any] = {
            "step": step.step,
            "epoch": step.epoch,
            "loss": state.logged_loss / state.logged_steps,
            "guided_loss": step.guided_loss,
            "learning_rate": step.learning_rate,
            "gradient_norm": step.gradient_norm,
            "tokens": step.tokens,
            "padding": step.padding,
            "seconds": step.seconds,
            "tokens_per_second": state.logged_tokens / max(state.logged_seconds, 1e-9),
        }
        if step.validation is not None:
            measured = {k: v for k, v in asdict(step.validation).items() if k != "is_best" and v is not None}
            line |= {f"valid_{name}": value for name, value in measured.items()}
        append_metrics(self.folder, line)


@contextlib.contextmanager
def swap_weights(model: nn.Module, weights: Mapping[str, Tensor] | None) -> Iterator[None]:
    """Let the model have other weights for the block, in evaluation mode; its own if None."""
    training = model.training
    model.eval()
    live = {name: weight.detach().clone() for name, weight in model.named_parameters()} if weights else {}
    try:
        _set_weights(model, weights or {})
        yield
    finally:
        _set_weights(model, live)
        model.train(training)


@contextlib.contextmanager
def explain_full_disk(folder: Path, overwrite: bool) -> Iterator[None]:
    """Say of a disk that is full how the run goes on: in a begun folder not by the same command again.

    Args:
        folder: of the model, in which nothing of an earlier run is left unless this one goes on with it.
        overwrite: whether the command replaced what stood there.
    """
    try:
        yield
    except DiskFullError as error:
        same = f"the same command with `--resume`{' instead of `--overwrite`' if overwrite else ''}"
        newest = latest_checkpoint(folder)
        then = "starts over" if newest is None else f"goes on from step {checkpoint_step(newest):,}"
        raise UserError(error.what, where=error.where, hint=f"Make room; {same} {then}.") from error


def explain_finished_run(run: Run) -> str:
    """Say why a run that was asked to go on makes no step, and how to ask for more."""
    done, config = f"{pluralize(run.state.step, 'step')} done", run.config
    if run.stopped_early():
        return (
            f"Nothing is left to do: {done}, and the run stopped early, {pluralize(run.state.since_best, 'validation')} "
            "after its best. To go on, ask for another length with --steps or --minutes, or for more "
            "--training.patience."
        )
    if config.steps and run.state.step >= config.steps:
        return (
            f"Nothing is left to do: {done}, {config.steps:,} asked for. To go on, ask for more, as in "
            f"`--steps {2 * run.state.step}`; those done count."
        )
    minutes = run.state.seconds / 60
    return (
        f"Nothing is left to do: {done} in {minutes:.3g} minutes, {config.minutes:g} asked for. To go on, ask for "
        f"more, as in `--minutes {2 * max(1, math.ceil(minutes))}`; those that have passed count."
    )


def is_finished(run: Run, folder: Path) -> bool:
    """Tell whether the best weights were chosen after the last step: not if the run was killed just before."""
    training = read_json(folder / "report.json").get("training") or {}
    return bool(training.get("steps") == run.state.step) and (folder / "model.safetensors").is_file()


def restore(run: Run, checkpoint_folder: Path, model_folder: Path) -> None:
    """Let a run go on where a checkpoint was written; metrics after it are dropped.

    With another length than it had, it is validated by the new one, and patience begins anew.

    Raises:
        UserError: if the checkpoint is damaged or of another model.
    """
    checkpoint = read_checkpoint(checkpoint_folder, str(next(run.model.parameters()).device))
    try:
        _take(run, checkpoint)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:  # names, kinds and shapes of what it holds
        raise UserError(
            f"this checkpoint is damaged, or of another model: {error}",
            where=str(checkpoint_folder),
            hint=f"Remove {checkpoint_folder} and go on from the one before it with `--resume`.",
        ) from error
    truncate_metrics(model_folder, run.state.step)


def _take(run: Run, checkpoint: Checkpoint) -> None:
    state = dict(checkpoint.state)
    updates = state.pop("average_updates")
    _set_weights(run.model, {k: v for k, v in checkpoint.model.items() if not k.startswith(AVERAGE_PREFIX)})
    if run.average is not None:
        run.average.updates = updates
        for name, weight in run.average.weights.items():
            # An average that was switched on since then begins with the weights as they were.
            weight.copy_(checkpoint.model.get(AVERAGE_PREFIX + name, checkpoint.model[name]))
    _set_optimizer(run.optimizer, checkpoint.optimizer)
    length = state.pop("length", None)
    run.state = TrainingState.from_dict(state)
    run.clock = Clock(run.config.clock, run.state.seconds)
    if length is not None and length != _length(run):
        # Validations go by the share of the run that has passed; longer now, it has passed less of it.
        run.state = replace(run.state, validations=run.validations_due(), since_best=0)


def _length(run: Run) -> list[float | None]:
    return [run.config.steps, run.config.minutes]


def _set_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    with torch.no_grad():
        live = dict(model.named_parameters())
        for name, weight in weights.items():
            live[name].copy_(weight)


def _optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    remembered = optimizer.state_dict()["state"]
    return {f"{number}.{name}": value for number, values in remembered.items() for name, value in values.items()}


def _set_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    content = optimizer.state_dict()
    content["state"] = {}
    for name, value in tensors.items():
        number, field = name.split(".", 1)
        content["state"].setdefault(int(number), {})[field] = value
    optimizer.load_state_dict(content)

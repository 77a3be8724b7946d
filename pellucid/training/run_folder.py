"""What a run writes to its folder: metrics, checkpoints and the current model, each atomically."""

import contextlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from pellucid.distributed import launched_size
from pellucid.errors import UserError
from pellucid.models.weights import save_weights
from pellucid.plurals import pluralize
from pellucid.storage.checkpoints import (
    Checkpoint,
    checkpoint_step,
    latest_checkpoint,
    list_checkpoints,
    prune_checkpoints,
    read_checkpoint,
    write_checkpoint,
)
from pellucid.storage.files import DiskFullError
from pellucid.storage.metrics import append_metrics, truncate_metrics
from pellucid.storage.model_folder import read_json, write_json
from pellucid.training.clock import Clock
from pellucid.training.precision import training_dtype
from pellucid.training.run import Run
from pellucid.training.state import Step, TrainingState, Validation

__all__ = [
    "AVERAGE_PREFIX",
    "explain_finished_run",
    "explain_full_disk",
    "is_finished",
    "load_checkpoint",
    "log_step",
    "restore_run",
    "save_best_weights",
    "save_run",
    "validate",
]

AVERAGE_PREFIX = "averaged."
"""Prefix of the names of averaged weights in a checkpoint."""


def validate(run: Run) -> Validation | None:
    """Measure the averaged weights on held-out text; None if there is none."""
    with _swap_weights(run.model, run.averaged_weights()):
        loss = run.task.validation_loss()
        if loss is None:
            return None
        metrics = run.task.measure(loss, run.state.validations)
    best = run.state.best_loss
    return Validation(loss, best is None or loss < best, *metrics)


def log_step(run: Run, step: Step) -> None:
    """Append a line to metrics.jsonl: loss and speed since the previous line, everything else of this step."""
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
    append_metrics(run.folder, line)


def save_run(run: Run) -> None:
    """Write a checkpoint and the current model, and remove old checkpoints."""
    weights = {name: weight.detach() for name, weight in run.model.named_parameters()}
    averaged = {AVERAGE_PREFIX + name: weight for name, weight in run.average.weights.items()} if run.average else {}
    # Save the current time, not the step's: validation takes time too, and a finished run must stay finished.
    state = {**asdict(run.state), "seconds": run.clock.seconds()}
    state |= {"average_updates": run.average.updates if run.average else 0, "length": _length(run)}
    checkpoint = Checkpoint(run.state.step, {**weights, **averaged}, _optimizer_tensors(run.optimizer), state)
    write_checkpoint(run.folder, checkpoint)
    prune_checkpoints(run.folder, run.config.keep_checkpoints, run.state.best_step or None)
    with _swap_weights(run.model, run.averaged_weights()):
        save_weights(run.model, run.folder / "model.safetensors")


def restore_run(run: Run, checkpoint_folder: Path) -> None:
    """Restore a run as `load_checkpoint` does, and drop the metrics written after the checkpoint."""
    load_checkpoint(run, checkpoint_folder)
    truncate_metrics(run.folder, run.state.step)


def load_checkpoint(run: Run, checkpoint_folder: Path) -> None:
    """Restore a run to the state of a checkpoint.

    If the length of the run has changed, validations are scheduled by the new one, and patience starts over.

    Raises:
        UserError: if the checkpoint is damaged, or belongs to another model.
    """
    checkpoint = read_checkpoint(checkpoint_folder, str(next(run.model.parameters()).device))
    try:
        _restore(run, checkpoint)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:  # wrong names, types or shapes
        raise UserError(
            f"the checkpoint is damaged, or belongs to another model: {error}",
            where=str(checkpoint_folder),
            hint=f"Remove {checkpoint_folder} and continue from the previous checkpoint with `--resume`.",
        ) from error


def save_best_weights(run: Run) -> str:
    """Save the weights with the lowest validation loss, and write the results of training to report.json.

    Candidates are the last weights, their average, and those of the best checkpoint.

    Returns:
        A line for the user.
    """
    device = next(run.model.parameters()).device
    losses: dict[str, float | None] = {}
    for name, weights in _candidates(run, device):
        with _swap_weights(run.model, weights):
            losses[name] = run.task.validation_loss()
            if min(losses, key=lambda name: losses[name] or 0.0) == name:
                save_weights(run.model, run.folder / "model.safetensors")
    best = min(losses, key=lambda name: losses[name] or 0.0)
    measured = {name: loss for name, loss in losses.items() if loss is not None}
    report = read_json(run.folder / "report.json")
    report["training"] = {
        "steps": run.state.step,
        "epochs": run.state.epoch,
        "target_tokens": run.state.tokens,
        "seconds": run.state.seconds,
        "threads": torch.get_num_threads(),
        "processes": max(run.config.processes or 1, launched_size()),
        "device": str(device),
        "precision": str(training_dtype(run.config.precision)).removeprefix("torch."),
        "weights": best,
        "validation_losses": measured,
        "stopped_early": run.stopped_early(),
    }
    write_json(run.folder / "report.json", report)
    loss = f" (validation loss {measured[best]:.3f})" if best in measured else ""
    return f"Saved the {best} weights{loss} to {run.folder}"


def is_finished(run: Run) -> bool:
    """Whether the best weights were saved after the last step; they were not if the run was killed just before."""
    training = read_json(run.folder / "report.json").get("training") or {}
    return bool(training.get("steps") == run.state.step) and (run.folder / "model.safetensors").is_file()


def explain_finished_run(run: Run) -> str:
    """Explain why a resumed run has no step left, and how to train for longer."""
    done, config = f"{pluralize(run.state.step, 'step')} done", run.config
    if run.stopped_early():
        return (
            f"Nothing left to do: {done}, and the run stopped early, {pluralize(run.state.since_best, 'validation')} "
            "after its best. To train further, pass another length with --steps or --minutes, or a higher "
            "--training.patience."
        )
    if config.steps and run.state.step >= config.steps:
        return (
            f"Nothing left to do: {done} of {config.steps:,}. To train further, pass a higher total, such as "
            f"`--steps {2 * run.state.step}`."
        )
    minutes = run.state.seconds / 60
    return (
        f"Nothing left to do: {done} in {minutes:.3g} of {config.minutes:g} minutes. To train further, pass a higher "
        f"total, such as `--minutes {2 * max(1, math.ceil(minutes))}`."
    )


@contextlib.contextmanager
def explain_full_disk(folder: Path, overwrite: bool) -> Iterator[None]:
    """Tell the user of a full disk how to continue: in a begun folder, the same command again would be rejected.

    Args:
        folder: of the model, without anything of an earlier run unless this one continues it.
        overwrite: whether the command replaced what was there.
    """
    try:
        yield
    except DiskFullError as error:
        same = f"the same command with `--resume`{' instead of `--overwrite`' if overwrite else ''}"
        newest = latest_checkpoint(folder)
        then = "starts over" if newest is None else f"continues from step {checkpoint_step(newest):,}"
        raise UserError(error.what, where=error.where, hint=f"Free some space; {same} {then}.") from error


@contextlib.contextmanager
def _swap_weights(model: nn.Module, weights: Mapping[str, Tensor] | None) -> Iterator[None]:
    """Put other weights into the model for the block, in evaluation mode; keep its own if None."""
    training = model.training
    model.eval()
    live = {name: weight.detach().clone() for name, weight in model.named_parameters()} if weights else {}
    try:
        _set_weights(model, weights or {})
        yield
    finally:
        _set_weights(model, live)
        model.train(training)


def _candidates(run: Run, device: torch.device) -> Iterator[tuple[str, dict[str, Tensor] | None]]:
    """Yield the candidate weights by name, in order of preference at equal loss; None stands for the model's own."""
    averaged = run.averaged_weights()
    if averaged is not None:
        yield "averaged", averaged
    yield "last", None
    for folder in list_checkpoints(run.folder):
        if checkpoint_step(folder) == run.state.best_step != run.state.step:
            checkpoint = read_checkpoint(folder, str(device))
            own, average = _split_weights(checkpoint)
            yield "best", {**own, **average} if checkpoint.state["average_updates"] else own


def _split_weights(checkpoint: Checkpoint) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Split a checkpoint's weights into those of the model and their average, if it has one."""
    own = {name: weight for name, weight in checkpoint.model.items() if not name.startswith(AVERAGE_PREFIX)}
    averaged = {
        name: checkpoint.model[AVERAGE_PREFIX + name] for name in own if AVERAGE_PREFIX + name in checkpoint.model
    }
    return own, averaged


def _restore(run: Run, checkpoint: Checkpoint) -> None:
    state = dict(checkpoint.state)
    updates, length = state.pop("average_updates"), state.pop("length", None)
    own, averaged = _split_weights(checkpoint)
    _set_weights(run.model, own)
    if run.average is not None:
        run.average.updates = updates
        for name, weight in run.average.weights.items():
            # An average that is switched on only now starts from the weights.
            weight.copy_(averaged.get(name, own[name]))
    _set_optimizer(run.optimizer, checkpoint.optimizer)
    run.state = TrainingState(**state)
    run.clock = Clock(run.config.clock, run.state.seconds)
    if length is not None and length != _length(run):
        # Validations go by the share of the run that has passed, which is smaller in a longer run.
        run.state = replace(run.state, validations=run.validations_due(), since_best=0)


def _length(run: Run) -> list[float | None]:
    return [run.config.steps, run.config.minutes]


def _set_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    with torch.no_grad():
        live = dict(model.named_parameters())
        for name, weight in weights.items():
            live[name].copy_(weight)


def _optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    moments = optimizer.state_dict()["state"]
    return {f"{number}.{name}": value for number, values in moments.items() for name, value in values.items()}


def _set_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    content = optimizer.state_dict()
    content["state"] = {}
    for name, value in tensors.items():
        number, field = name.split(".", 1)
        content["state"].setdefault(int(number), {})[field] = value
    optimizer.load_state_dict(content)

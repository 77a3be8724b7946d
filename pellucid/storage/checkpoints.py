"""Checkpoints: training resumes from them after a stop, a kill or a power failure.

    MODEL/checkpoints/step-00000123/
        model.safetensors       weights, and any averages of them
        optimizer.safetensors   states of the optimizer and the random generators
        state.json              counters and small numbers; `files` has the sizes of the other two

A checkpoint is written to a temporary folder, flushed to the disk and renamed, so that an existing one is complete.
Should a disk break that promise, the sizes in state.json show it and the checkpoint is skipped.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pellucid.errors import UserError
from pellucid.storage.files import atomic_folder, remove_temporary_files
from pellucid.storage.model_folder import read_json, write_json
from pellucid.storage.tensors import read_tensors, write_tensors

if TYPE_CHECKING:
    from torch import Tensor

__all__ = [
    "Checkpoint",
    "checkpoint_step",
    "latest_checkpoint",
    "list_checkpoints",
    "prune_checkpoints",
    "read_checkpoint",
    "remove_checkpoints",
    "remove_incomplete_checkpoints",
    "write_checkpoint",
]

_NAME = re.compile(r"step-(\d{8,})")
_TENSORS = ("model.safetensors", "optimizer.safetensors")


class Checkpoint(NamedTuple):
    """Everything that a run needs to continue after step `step`."""

    step: int
    model: dict[str, Tensor]
    optimizer: dict[str, Tensor]
    state: dict[str, Any]


def write_checkpoint(model_folder: str | Path, checkpoint: Checkpoint) -> Path:
    """Write `checkpoint` atomically, replacing one of the same step, and return its folder.

    Raises:
        UserError: if it cannot be written; earlier checkpoints are left unchanged.
    """
    folder = Path(model_folder) / "checkpoints" / f"step-{checkpoint.step:08d}"
    with atomic_folder(folder, replace=True) as temporary:
        for name, tensors in zip(_TENSORS, (checkpoint.model, checkpoint.optimizer), strict=True):
            write_tensors(temporary / name, tensors)
        sizes = {name: (temporary / name).stat().st_size for name in _TENSORS}
        write_json(temporary / "state.json", {"step": checkpoint.step, "files": sizes, "state": checkpoint.state})
    return folder


def read_checkpoint(folder: str | Path, device: str = "cpu") -> Checkpoint:
    """Read the checkpoint in `folder`, its tensors onto `device`.

    Raises:
        UserError: if a file is missing or damaged.
    """
    folder = Path(folder)
    hint = f"Remove {folder} and continue from the previous checkpoint with `--resume`."
    content = read_json(folder / "state.json")
    try:
        step, state = int(content["step"]), dict(content["state"])
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(
            "the checkpoint's state.json is damaged", where=str(folder / "state.json"), hint=hint
        ) from error
    try:
        model, optimizer = (read_tensors(folder / name, device) for name in _TENSORS)
    except UserError as error:
        raise UserError(error.what, where=error.where, hint=hint) from error
    return Checkpoint(step, model, optimizer, state)


def list_checkpoints(model_folder: str | Path) -> list[Path]:
    """List the folders of the complete checkpoints, oldest first."""
    return [folder for folder in _folders(Path(model_folder)) if _is_complete(folder)]


def latest_checkpoint(model_folder: str | Path) -> Path | None:
    """Find the folder of the newest complete checkpoint, or None."""
    return next((folder for folder in reversed(_folders(Path(model_folder))) if _is_complete(folder)), None)


def checkpoint_step(folder: str | Path) -> int:
    """The step after which the checkpoint in `folder` was written."""
    match = _NAME.fullmatch(Path(folder).name)
    assert match, folder
    return int(match[1])


def prune_checkpoints(model_folder: str | Path, keep: int, best: int | None = None) -> list[int]:
    """Remove all checkpoints except the newest `keep` and the one of step `best`; return the steps removed.

    At least the newest is kept. Damaged ones are removed, whatever their step.
    """
    whole = [checkpoint_step(folder) for folder in list_checkpoints(model_folder)]
    kept = {*whole[-max(keep, 1) :], best}
    gone = [folder for folder in _folders(Path(model_folder)) if checkpoint_step(folder) not in kept]
    for folder in gone:
        _remove(folder)
    return [checkpoint_step(folder) for folder in gone]


def remove_checkpoints(model_folder: str | Path) -> None:
    """Remove all checkpoints, as before another run replaces this one."""
    for folder in _folders(Path(model_folder)):
        _remove(folder)


def remove_incomplete_checkpoints(model_folder: str | Path) -> list[str]:
    """Remove incomplete checkpoints left by a killed run, and return their names."""
    return remove_temporary_files(Path(model_folder) / "checkpoints")


def _remove(folder: Path) -> None:
    # Without state.json it is not a checkpoint: a kill during the removal leaves nothing misleading.
    (folder / "state.json").unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _folders(model_folder: Path) -> list[Path]:
    target = model_folder / "checkpoints"
    found = [entry for entry in target.iterdir() if _NAME.fullmatch(entry.name)] if target.is_dir() else []
    return sorted(found, key=checkpoint_step)


def _is_complete(folder: Path) -> bool:
    try:
        sizes = read_json(folder / "state.json")["files"]
        return all((folder / name).stat().st_size == sizes[name] for name in _TENSORS)
    except (UserError, OSError, KeyError, TypeError):
        return False

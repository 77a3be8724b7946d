"""Where training can go on after a stop, a kill or a power cut.

    MODEL/checkpoints/step-00000123/
        model.safetensors       weights, and any averages of them
        optimizer.safetensors   what the optimizer remembers, and the generators' states
        state.json              counters and small numbers; `files` has the size of the other two

A checkpoint is written beside its place, forced to the disk and renamed: one that stands there is whole. Should a disk
break that promise, the sizes in state.json tell, and the checkpoint is passed over.
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
    """All that a run needs to go on after step `step`."""

    step: int
    model: dict[str, Tensor]
    optimizer: dict[str, Tensor]
    state: dict[str, Any]


def write_checkpoint(model_folder: str | Path, checkpoint: Checkpoint) -> Path:
    """Write `checkpoint`, whole or not at all, in place of one of the same step, and return its folder.

    Raises:
        UserError: if the disk is full or refuses; the checkpoints before it stay.
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
    hint = f"Remove {folder} and go on from the one before it with `--resume`."
    content = read_json(folder / "state.json")
    try:
        step, state = int(content["step"]), dict(content["state"])
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(
            "a checkpoint's state.json is damaged",
            where=str(folder / "state.json"),
            hint=hint,
        ) from error
    try:
        model, optimizer = (read_tensors(folder / name, device) for name in _TENSORS)
    except UserError as error:
        raise UserError(error.what, where=error.where, hint=hint) from error
    return Checkpoint(step, model, optimizer, state)


def list_checkpoints(model_folder: str | Path) -> list[Path]:
    """Return the folders of the whole checkpoints, oldest first."""
    return [folder for folder in _folders(Path(model_folder)) if _is_whole(folder)]


def latest_checkpoint(model_folder: str | Path) -> Path | None:
    """Return the folder of the newest whole checkpoint, None if there is none; half-written ones are passed over."""
    return next((folder for folder in reversed(_folders(Path(model_folder))) if _is_whole(folder)), None)


def checkpoint_step(folder: str | Path) -> int:
    """Return the step after which the checkpoint in `folder` was written."""
    match = _NAME.fullmatch(Path(folder).name)
    assert match, folder
    return int(match[1])


def prune_checkpoints(model_folder: str | Path, keep: int, best: int | None = None) -> list[int]:
    """Remove all checkpoints but the newest `keep` and the one of step `best`; return the steps removed.

    At least the newest stays. Damaged ones go, whatever their step.
    """
    whole = [checkpoint_step(folder) for folder in list_checkpoints(model_folder)]
    kept = {*whole[-max(keep, 1) :], best}
    gone = [folder for folder in _folders(Path(model_folder)) if checkpoint_step(folder) not in kept]
    for folder in gone:
        # Without state.json it is no checkpoint: a kill in the middle of the removal leaves nothing that misleads.
        (folder / "state.json").unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
    return [checkpoint_step(folder) for folder in gone]


def remove_checkpoints(model_folder: str | Path) -> None:
    """Remove all checkpoints, as before another run takes the place of theirs."""
    for folder in _folders(Path(model_folder)):
        (folder / "state.json").unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)


def remove_incomplete_checkpoints(model_folder: str | Path) -> list[str]:
    """Remove what a killed run left half-written among the checkpoints, and return the names."""
    return remove_temporary_files(Path(model_folder) / "checkpoints")


def _folders(model_folder: Path) -> list[Path]:
    target = model_folder / "checkpoints"
    found = [entry for entry in target.iterdir() if _NAME.fullmatch(entry.name)] if target.is_dir() else []
    return sorted(found, key=checkpoint_step)


def _is_whole(folder: Path) -> bool:
    try:
        sizes = read_json(folder / "state.json")["files"]
        return all((folder / name).stat().st_size == sizes[name] for name in _TENSORS)
    except (UserError, OSError, KeyError, TypeError):
        return False

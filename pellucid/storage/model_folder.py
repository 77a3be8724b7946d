"""Model folders: their files, and which folders may be written to.

config.json              kind, format, and the settings that the model was built with
model.safetensors        the weights
tokenizer.json           text ↔ ids (or source_tokenizer.json and target_tokenizer.json)
chat_template.jinja      how a conversation is written (imported models)
generation_config.json   default settings for generation
report.json              facts about its data and its training
metrics.jsonl            one line per logged step
checkpoints/step-…/      from which training resumes
"""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pellucid.errors import UsageError, UserError, did_you_mean
from pellucid.storage.files import remove_temporary_files, write_text

__all__ = [
    "FORMAT",
    "MODEL_KINDS",
    "check_output",
    "contains_model",
    "prepare_output",
    "read_config",
    "read_json",
    "reject_nan",
    "write_config",
    "write_json",
]

FORMAT = 2
"""Version of the folder's layout; folders of other versions are rejected."""

MODEL_KINDS = {"translator": "a translator", "language-model": "a language model", "vectors": "word vectors"}

_MODEL_FILES = {
    "chat_template.jinja", "checkpoints", "config.json", "generation_config.json", "metrics.jsonl", "model.safetensors",
    "report.json", "source_tokenizer.json", "target_tokenizer.json", "tokenizer.json",
}  # fmt: skip
"""Everything that Pellucid writes into a model folder: `--overwrite` removes these names and nothing else."""


def read_config(folder: str | Path, kind: str | None = None) -> dict[str, Any]:
    """Read config.json of a model folder, and check that this version can read the model.

    Args:
        kind: the expected kind (a key of MODEL_KINDS); None for any.

    Raises:
        UserError: if the folder is missing, holds no model, one of another kind, or one of another format.
    """
    folder = Path(folder)
    path = folder / "config.json"
    if not path.is_file():
        raise _no_model_error(folder)
    config = read_json(path)
    _require_kind(folder, config)
    form = config.get("format")
    if not isinstance(form, int) or form < 1:
        raise UserError(f"config.json is damaged: format is {form!r}", where=str(path), hint=_COPY_AGAIN)
    if form < FORMAT:
        raise UserError(
            f"{folder} was written by an earlier development version: format {form}, this one reads format {FORMAT}",
            where=str(path),
            hint="Train it again, or use the version that wrote it.",
        )
    if form > FORMAT:
        raise UserError(
            f"{folder} was written by a newer Pellucid: format {form}, this one reads format {FORMAT}",
            where=str(path),
            hint="Install a newer version: `pip install --upgrade pellucid`.",
        )
    if kind is not None and config["kind"] != kind:
        raise UserError(
            f"expected {MODEL_KINDS[kind]}, but {folder} holds {MODEL_KINDS[config['kind']]}",
            where=str(path),
            hint=f"Name a folder with {MODEL_KINDS[kind]} in it.",
        )
    return config


def write_config(folder: str | Path, kind: str, fields: Mapping[str, Any]) -> None:
    """Write config.json: the kind of model, the format of its folder, and `fields`."""
    assert kind in MODEL_KINDS, kind
    write_json(Path(folder) / "config.json", {"kind": kind, "format": FORMAT, **fields})


def read_json(path: str | Path) -> dict[str, Any]:
    """Read a JSON object from a file of a model folder.

    Raises:
        UserError: if the file is missing or holds anything else.
    """
    path = Path(path)
    try:
        value = json.loads(path.read_text(encoding="utf-8"), parse_constant=reject_nan)
    except OSError as error:
        reason = "it does not exist" if isinstance(error, FileNotFoundError) else error.strerror
        hint = "Copy the folder again from an intact copy, or check its permissions."
        raise UserError(f"cannot read {path}: {reason}", where=str(path), hint=hint) from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path.name} is damaged: {error}", where=str(path), hint=_COPY_AGAIN) from error
    if not isinstance(value, dict):
        raise UserError(f"{path.name} is damaged: expected a JSON object", where=str(path), hint=_COPY_AGAIN)
    return value


def reject_nan(name: str) -> object:
    """Raise a ValueError for NaN or infinity, which JSON does not have but Python's reader accepts."""
    raise ValueError(f"{name} is not a JSON number")


def write_json(path: str | Path, value: Mapping[str, Any]) -> None:
    """Write a JSON object atomically, indented for people."""
    write_text(path, json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n")


def contains_model(folder: str | Path) -> bool:
    """Whether `folder` holds a model, finished or not."""
    folder = Path(folder)
    return (folder / "config.json").is_file() or any((folder / "checkpoints").glob("step-*"))


def check_output(folder: str | Path, resume: bool, overwrite: bool) -> None:
    """Reject a folder that a training run must not write to; change nothing.

    Raises:
        UserError: if it holds a model and neither `resume` nor `overwrite` is given, if it is a file or a folder with
            other content, or if it holds a model that this version cannot read.
        UsageError: if both are given.
    """
    folder = Path(folder)
    if resume and overwrite:
        raise UsageError(
            "--resume cannot be combined with --overwrite",
            where="--resume --overwrite",
            hint="Use --resume to continue the run, or --overwrite to start again.",
        )
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file, expected a folder", where=str(folder), hint="Name another with `-o`.")
    if contains_model(folder):
        if not (resume or overwrite):
            begun = not any((folder / "checkpoints").glob("step-*")) and not (folder / "model.safetensors").exists()
            raise UserError(
                f"{folder} already holds {'an unfinished model without a checkpoint' if begun else 'a model'}",
                where=str(folder),
                hint=f"Add `--resume` to {'start over' if begun else 'continue it'}, `--overwrite` to replace it, or "
                "name another folder with `-o`.",
            )
        if resume and (folder / "config.json").is_file():
            read_config(folder)
        elif (folder / "config.json").is_file():  # of any format, but never another program's
            _require_kind(folder, read_json(folder / "config.json"))
        return
    names = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    others = [name for name in names if name not in _MODEL_FILES and not name.startswith(".")]
    if others:
        raise UserError(
            f"{folder} holds other files and no model: {', '.join(others[:3])}{' …' if len(others) > 3 else ''}",
            where=str(folder),
            hint="Name an empty or a new folder with `-o`.",
        )


def prepare_output(folder: str | Path, resume: bool, overwrite: bool) -> None:
    """Prepare `folder` for a training run: create it, remove temporary files and, unless resuming, the old model.

    Only files that Pellucid writes are removed, config.json first: a kill in the middle leaves no partial model.

    Raises:
        UserError, UsageError: as `check_output`.
    """
    check_output(folder, resume, overwrite)
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        remove_temporary_files(folder)
        remove_temporary_files(folder / "checkpoints")
        if not resume:
            for entry in sorted(folder.iterdir(), key=lambda entry: entry.name != "config.json"):
                if entry.name in _MODEL_FILES:
                    shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    except OSError as error:
        raise UserError(
            f"cannot use {folder} for the model: {error.strerror}",
            where=str(error.filename or folder),
            hint="Check that it is writable, or name another folder with `-o`.",
        ) from error


_COPY_AGAIN = "Copy the folder again from an intact copy, or train again."


def _require_kind(folder: Path, config: Mapping[str, Any]) -> None:
    if config.get("kind") not in MODEL_KINDS:
        raise UserError(
            f"{folder} holds no Pellucid model: config.json has no known kind",
            where=str(folder / "config.json"),
            hint="Name a folder that `pellucid train` has written: Pellucid reads and replaces no others.",
        )


def _no_model_error(folder: Path) -> UserError:
    if not folder.exists():
        siblings = [path.parent.name for path in folder.absolute().parent.glob("*/config.json")]
        otherwise = "Train one with `pellucid train`, or check the path."
        return UserError(
            f"no model folder at {folder}",
            where=str(folder),
            hint=did_you_mean(folder.name, siblings, otherwise, str(folder.with_name("{}"))),
        )
    if not folder.is_dir():
        return UserError(
            f"expected a model folder, but {folder} is a file",
            where=str(folder),
            hint="Name the folder that `pellucid train … -o` has written.",
        )
    if contains_model(folder):
        return UserError(
            f"{folder} holds an unfinished model: config.json is missing",
            where=str(folder / "config.json"),
            hint="Continue its training: run the same command with `--resume`.",
        )
    model = folder.absolute().parent.parent
    if folder.absolute().parent.name == "checkpoints" and (model / "config.json").is_file():
        return UserError(
            f"{folder} is a checkpoint, not a model", where=str(folder), hint=f"Name the folder of its model: {model}"
        )
    return UserError(
        f"{folder} holds no model: config.json is missing",
        where=str(folder / "config.json"),
        hint="Name the folder that `pellucid train … -o` has written.",
    )

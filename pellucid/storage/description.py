"""Describe a model from the files of its folder, without loading it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pellucid.storage.checkpoints import checkpoint_step, list_checkpoints
from pellucid.storage.metrics import read_metrics
from pellucid.storage.model_folder import read_config, read_json
from pellucid.storage.tensors import TensorShape, read_shapes

__all__ = ["count_parameters_by_part", "describe_model"]


def describe_model(folder: Path) -> dict[str, Any]:
    """Describe a model from the files of its folder; entries of missing files are empty.

    `parameters` has the number of parameters by part and in `total`, `bytes` the size of the weights file, and
    `training` the logged record of the last step and, in `best`, that of the lowest validation loss.

    Raises:
        UserError: if the folder holds no model, or one of its files is damaged.
    """
    config = read_config(folder)
    weights = folder / "model.safetensors"
    report = folder / "report.json"
    return {
        "folder": str(folder),
        "kind": config.pop("kind"),
        "config": config,
        "parameters": count_parameters_by_part(read_shapes(weights)) if weights.is_file() else {},
        "bytes": weights.stat().st_size if weights.is_file() else 0,
        "report": read_json(report) if report.is_file() else {},
        "training": _training(folder),
        "checkpoints": [checkpoint_step(checkpoint) for checkpoint in list_checkpoints(folder)],
    }


def count_parameters_by_part(shapes: Mapping[str, TensorShape]) -> dict[str, int]:
    """Count parameters by part, summed over the layers of a stack, and in `total`; a tied matrix counts once.

    `encoder.2.self_attention.query.weight` belongs to `encoder.self_attention`. Tensors of whole numbers, such as the
    vocabulary and counts of word vectors, are no parameters.
    """
    counts: dict[str, int] = {}
    for name, tensor in shapes.items():
        if not tensor.dtype.startswith(("F", "BF")):
            continue
        words = [word for word in name.split(".")[:-1] if not word.isdigit()]
        part = ".".join(words[:2]) or name
        counts[part] = counts.get(part, 0) + tensor.size
    return {**dict(sorted(counts.items())), "total": sum(counts.values())}


def _training(folder: Path) -> dict[str, Any]:
    last: dict[str, Any] = {}
    best: dict[str, Any] = {}
    for record in read_metrics(folder):
        last = record
        loss = record.get("valid_loss")
        if isinstance(loss, int | float) and loss <= best.get("valid_loss", loss):
            best = record
    return {"last": last, "best": best} if last else {}

"""`pellucid info`: what a model is, read from its folder without loading it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_FLAGS, Flags
from pellucid.plurals import pluralize
from pellucid.storage.checkpoints import checkpoint_step, list_checkpoints
from pellucid.storage.metrics import read_metrics
from pellucid.storage.model_folder import MODEL_KINDS, read_config, read_json
from pellucid.storage.tensors import TensorShape, read_shapes

__all__ = ["count_parameters_by_part", "describe_model", "info"]


def info(
    folder: Path,
    /,
    *,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """Say what a model is: sizes, parameters by part, data, training, scores.

    Args:
        folder: The model folder.
        as_json: Print one JSON object with the keys folder, kind, config, parameters, bytes, report, training,
            checkpoints.
    """
    description = describe_model(folder)
    if as_json:
        console.data_json(description)
    else:
        _print(description)


def describe_model(folder: Path) -> dict[str, Any]:
    """Return what the files of a model folder say about the model; what has no file is empty.

    `parameters` counts numbers, by part and in `total`; `bytes` is the size of their file; `training` holds the last
    logged record, and in `best` the one of lowest validation loss.

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
        "parameters": count_parameters_by_part(_weights(read_shapes(weights))) if weights.is_file() else {},
        "bytes": weights.stat().st_size if weights.is_file() else 0,
        "report": read_json(report) if report.is_file() else {},
        "training": _training(folder),
        "checkpoints": [checkpoint_step(checkpoint) for checkpoint in list_checkpoints(folder)],
    }


def count_parameters_by_part(shapes: Mapping[str, TensorShape]) -> dict[str, int]:
    """Count parameters by part, all layers of a stack together, and in `total`; a tied matrix is stored once.

    `encoder.2.self_attention.query.weight` counts for `encoder.self_attention`.
    """
    counts: dict[str, int] = {}
    for name, tensor in shapes.items():
        words = [word for word in name.split(".")[:-1] if not word.isdigit()]
        part = ".".join(words[:2]) or name
        counts[part] = counts.get(part, 0) + tensor.size
    return {**dict(sorted(counts.items())), "total": sum(counts.values())}


def _weights(shapes: Mapping[str, TensorShape]) -> dict[str, TensorShape]:
    """Return the tensors that are weights: not word vectors' vocabulary and counts, which are whole numbers."""
    return {name: tensor for name, tensor in shapes.items() if tensor.dtype.startswith(("F", "BF"))}


def _training(folder: Path) -> dict[str, Any]:
    last: dict[str, Any] = {}
    best: dict[str, Any] = {}
    for record in read_metrics(folder):
        last = record
        loss = record.get("valid_loss")
        if isinstance(loss, int | float) and loss <= best.get("valid_loss", loss):
            best = record
    return {"last": last, "best": best} if last else {}


def _print(description: Mapping[str, Any]) -> None:
    size = description["bytes"]
    kind = MODEL_KINDS[description["kind"]]
    console.data(f"{description['folder']}: {kind}" + (f", {size / 1e6:,.1f} MB of weights" if size else ""))
    if not size:
        console.warn("there are no weights yet: go on with the training by the same command and `--resume`")
    _section("Parameters", list(description["parameters"].items()))
    config = dict(description["config"])
    recipe = {section: fields for section, fields in config.pop("recipe", {}).items() if section != "model"}
    _section("Settings", _flat(config))
    _section("Recipe, where it differs from the defaults", _changed(_flat(recipe), description["kind"]))
    _section("Data and training", _found(_flat(description["report"])))
    training = description["training"]
    _section("Last logged step", _flat(training.get("last", {})))
    _section("Best validation", _flat(training.get("best", {})))
    if description["checkpoints"]:
        console.data("")
        console.data("Checkpoints after steps " + ", ".join(f"{step:,}" for step in description["checkpoints"]))


def _section(title: str, rows: Sequence[tuple[str, object]]) -> None:
    if not rows:
        return
    console.data("")
    console.data(title)
    left = max(console.display_width(name) for name, _ in rows)
    for name, value in rows:
        console.data(f"  {name}{' ' * (left - console.display_width(name))}  {console.format_cell(value)}")


def _changed(rows: Sequence[tuple[str, object]], kind: str) -> list[tuple[str, object]]:
    """Return the settings that are not the defaults of a recipe for that kind of model."""
    from pellucid.training.recipe import LanguageModelRecipe, TranslatorRecipe

    made_by = LanguageModelRecipe if kind == LanguageModelRecipe.model_kind else TranslatorRecipe
    defaults = dict(_flat(made_by().model_dump(mode="json")))
    return [(name, value) for name, value in rows if name not in defaults or defaults[name] != value]


def _found(rows: Sequence[tuple[str, object]]) -> list[tuple[str, object]]:
    """Return what was found: no empty rows, no checks that found nothing."""
    return [(name, value) for name, value in rows if value not in ("", None) and not (".counts." in name and not value)]


def _flat(fields: Mapping[str, Any], prefix: str = "") -> list[tuple[str, object]]:
    """Return nested fields as rows with dotted names; long lists by their length."""
    rows: list[tuple[str, object]] = []
    for name, value in fields.items():
        if isinstance(value, Mapping):
            rows.extend(_flat(value, f"{prefix}{name}."))
        elif isinstance(value, list) and any(isinstance(item, Mapping | list) for item in value):
            rows.append((f"{prefix}{name}", pluralize(len(value), "entry", "entries")))
        elif isinstance(value, list):
            shown = ", ".join(console.format_cell(item) for item in value[:5])
            rows.append((f"{prefix}{name}", shown + (f" … ({len(value):,})" if len(value) > 5 else "")))
        else:
            rows.append((f"{prefix}{name}", value))
    return rows

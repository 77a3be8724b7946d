"""`pellucid info`: describe a model from the files of its folder, without loading it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_FLAGS, Flags, JsonSwitch
from pellucid.plurals import pluralize
from pellucid.storage.description import describe_model
from pellucid.storage.model_folder import MODEL_KINDS

__all__ = ["info"]


def info(
    folder: Path,
    /,
    *,
    as_json: JsonSwitch = False,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """Show a model's sizes, parameters, data, training and scores.

    Args:
        folder: Model folder.
        as_json: Print one JSON object with the keys `folder`, `kind`, `config`, `parameters`, `bytes`, `report`,
            `training` and `checkpoints`.
    """
    description = describe_model(folder)
    if as_json:
        console.data_json(description)
    else:
        _print(description)


def _print(description: Mapping[str, Any]) -> None:
    size = description["bytes"]
    kind = MODEL_KINDS[description["kind"]]
    console.data(f"{description['folder']}: {kind}" + (f", {size / 1e6:,.1f} MB of weights" if size else ""))
    if not size:
        console.warn("there are no weights yet: continue the training with the same command and `--resume`")
    _section("Parameters", list(description["parameters"].items()))
    config = dict(description["config"])
    recipe = {section: fields for section, fields in config.pop("recipe", {}).items() if section != "model"}
    _section("Settings", _flat(config))
    _section("Recipe settings that differ from the defaults", _changed(_flat(recipe), description["kind"]))
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
    for line in console.format_table(["", ""], rows):
        console.data(f"  {line}")


def _changed(rows: Sequence[tuple[str, object]], kind: str) -> list[tuple[str, object]]:
    """Keep the settings that differ from the defaults of recipes for this kind of model."""
    from pellucid.training.recipe import LanguageModelRecipe, TranslatorRecipe

    made_by = LanguageModelRecipe if kind == LanguageModelRecipe.model_kind else TranslatorRecipe
    defaults = dict(_flat(made_by().model_dump(mode="json")))
    return [(name, value) for name, value in rows if name not in defaults or defaults[name] != value]


def _found(rows: Sequence[tuple[str, object]]) -> list[tuple[str, object]]:
    """Drop empty rows, and checks that found nothing."""
    return [(name, value) for name, value in rows if value not in ("", None) and not (".counts." in name and not value)]


def _flat(fields: Mapping[str, Any], prefix: str = "") -> list[tuple[str, object]]:
    """Flatten nested fields into rows with dotted names; a long list is shown by its length."""
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

"""Which recipe holds: that of the run which goes on, or the one asked for with the sizes of a model trained on."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pellucid.errors import UsageError
from pellucid.storage.checkpoints import latest_checkpoint
from pellucid.storage.model_folder import read_config
from pellucid.training.recipe import AnyRecipe, Recipe, load_recipe, read_recipe_file, reject_changed_settings

__all__ = ["DEFAULT", "as_begun", "begun_with", "recipe_from_model", "recipe_of_run"]

DEFAULT = "fast"

# Of `training.*`: what the text on disk was prepared with, and what config.json says of the heads that were guided.
FIXED = ("max_tokens", "guided_layer", "guided_heads")

_ANEW = "What a run was begun with stays: leave it out, or start anew with --overwrite or in another folder."


def as_begun(recipe: str | Path | None, start_from: str | Path | None, kind: type[Recipe]) -> dict[str, Any]:
    """Return what a run is begun with, for its config.json: the recipe, what its file gives, the model trained on."""
    begun: dict[str, Any] = {"recipe": str(recipe or DEFAULT)}
    if settings := read_recipe_file(recipe or DEFAULT, kind):
        begun["settings"] = settings
    return begun if start_from is None else {**begun, "from": str(start_from)}


def begun_with(
    folder: Path, recipe: str | Path | None, start_from: str | Path | None, kind: type[Recipe]
) -> dict[str, Any]:
    """Return what the run that goes on was begun with; if none has begun, what is asked for now.

    Args:
        folder: of the model.
        recipe: a name or a TOML file, None if not given; the name and the content must be those of the run.
        start_from: the model to train on, None if not given; likewise.
        kind: a recipe for what.

    Raises:
        UserError: for a recipe's file that cannot be read.
        UsageError: for a recipe or a model other than the run's: it would not be heeded.
    """
    asked = as_begun(recipe, start_from, kind)
    if not (folder / "config.json").exists():
        return asked
    begun: dict[str, Any] = read_config(folder, kind.model_kind).get("begun_with", asked)
    if recipe is not None:
        load_recipe(recipe, None, kind)  # a file that is none is refused for that
        _check_recipe(begun, asked)
    if start_from is not None and Path(start_from).resolve() != Path(begun.get("from", "")).resolve():
        raise UsageError(
            f"this run was begun {'from ' + begun['from'] if 'from' in begun else 'without --from'}, got {start_from}",
            where=f"--from {start_from}",
            hint=_ANEW,
        )
    return begun


def _check_recipe(begun: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    old, new = _flat(begun.get("settings", {})), _flat(asked.get("settings", {}))
    for name in [*old, *new]:
        if old and new and old.get(name) != new.get(name):
            was, now = (values.get(name, "not given") for values in (old, new))
            raise UsageError(
                f"{asked['recipe']} is not the recipe that this run was begun with: {name} was {was}, is {now}",
                where=f"--recipe {asked['recipe']}",
                hint="Give what shall change as a flag, as in `--training.learning_rate 1e-3`, and leave --recipe out.",
            )
    if not (old and new) and begun.get("recipe") != asked["recipe"]:
        raise UsageError(
            f"this run was begun with recipe {begun.get('recipe')}, got {asked['recipe']}",
            where=f"--recipe {asked['recipe']}",
            hint=_ANEW,
        )


def recipe_of_run(folder: Path, recipe: str | Path, given: Mapping[str, object], kind: type[AnyRecipe]) -> AnyRecipe:
    """Return the recipe a begun run was started with, overridden by what is asked now.

    Args:
        folder: of the model.
        recipe: a name or a TOML file; it holds where no run has begun.
        given: values by `section.field`.
        kind: a recipe for what.

    Raises:
        UsageError: for a setting that the run has fixed.
    """
    if not (folder / "config.json").exists():
        return load_recipe(recipe, given, kind)
    stored = read_config(folder, kind.model_kind).get("recipe", {})
    flat = _flat(stored)
    longer = {name: value for name, value in given.items() if value is not None}
    if {"training.minutes", "training.steps"} & longer.keys():
        flat |= {"training.minutes": None, "training.steps": None}
    chosen = load_recipe(DEFAULT, flat | longer, kind)
    if latest_checkpoint(folder):
        training = stored.get("training", {})
        fixed_here = [*FIXED, *(["guided_weight"] if not training.get("guided_weight") else [])]
        fixed = {**stored, "training": {name: training[name] for name in fixed_here if name in training}}
        reject_changed_settings(longer, chosen, fixed, f"{_ANEW} Dropout and most of training.* can change.")
    return chosen


def recipe_from_model(start_from: Path, folder: Path, chosen: AnyRecipe, given: Mapping[str, object]) -> AnyRecipe:
    """Return the recipe with the sizes of the model that is trained on.

    Args:
        start_from: its folder.
        folder: of the new model.
        chosen: the recipe as asked for.
        given: values by `section.field` that flags gave.

    Raises:
        UserError: if the folder holds no model of that kind.
        UsageError: for a setting that it has fixed.
    """
    kind = type(chosen)
    config = read_config(start_from, kind.model_kind)
    if start_from.resolve() == folder.resolve():
        raise UsageError(
            f"the model to train on and the new one are the same folder, {folder}",
            where=f"--from {start_from}",
            hint="Name another folder with `-o`; to go on with the run itself use `--resume` without --from.",
        )
    started = {"embeddings": None, "freeze_embeddings": False}  # from word vectors or not, its rows are trained by now
    kept = {"model": config.get("model", {}) | started, "tokenizer": config.get("recipe", {}).get("tokenizer", {})}
    reject_changed_settings(
        given, chosen, kept, f"The sizes and the tokenizer are those of {start_from}: leave it out."
    )
    merged = chosen.model_dump()
    dropout = {name: value for name, value in merged["model"].items() if "dropout" in name}
    merged["model"] = kept["model"] | {name: value for name, value in dropout.items() if f"model.{name}" in given}
    merged["tokenizer"] |= {name: value for name, value in kept["tokenizer"].items() if "dropout" not in name}
    try:
        return load_recipe(DEFAULT, _flat(merged), kind)
    except UsageError as error:
        raise UsageError(
            error.what,
            where=f"--from {start_from}",
            hint=f"The sizes and the tokenizer are those of {start_from}; change what does not fit them.",
        ) from error


def _flat(sections: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    return {f"{section}.{name}": value for section, fields in sections.items() for name, value in fields.items()}

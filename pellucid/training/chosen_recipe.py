"""Which recipe holds: that of the run which goes on, or the one asked for with the sizes of a model trained on."""

from collections.abc import Mapping
from pathlib import Path

from pellucid.errors import UsageError
from pellucid.storage.checkpoints import latest_checkpoint
from pellucid.storage.model_folder import read_config
from pellucid.training.recipe import TranslatorRecipe, check_kept, load_recipe

__all__ = ["recipe_from_model", "recipe_of_run"]


def recipe_of_run(folder: Path, recipe: str | Path, given: Mapping[str, object]) -> TranslatorRecipe:
    """Return the recipe a begun run was started with, overridden by what is asked now.

    Args:
        folder: of the model.
        recipe: a name or a TOML file; it holds where no run has begun.
        given: values by `section.field`.

    Raises:
        UsageError: for a setting that the run has fixed.
    """
    if not (folder / "config.json").exists():
        return load_recipe(recipe, given)
    stored = read_config(folder, "translator").get("recipe", {})
    flat = _flat(stored)
    longer = {name: value for name, value in given.items() if value is not None}
    if {"training.minutes", "training.steps"} & longer.keys():
        flat |= {"training.minutes": None, "training.steps": None}
    chosen = load_recipe("fast", flat | longer)
    if latest_checkpoint(folder):
        fixed = {section: fields for section, fields in stored.items() if section != "training"}
        check_kept(
            longer,
            chosen,
            fixed,
            "A run that goes on can change training.* and dropout; the rest was fixed when it began. Leave it out, or "
            "start anew with --overwrite or in another folder.",
        )
    return chosen


def recipe_from_model(
    start_from: Path, folder: Path, chosen: TranslatorRecipe, given: Mapping[str, object]
) -> TranslatorRecipe:
    """Return the recipe with the sizes of the translator that is trained on.

    Args:
        start_from: its folder.
        folder: of the new model.
        chosen: the recipe as asked for.
        given: values by `section.field` that flags gave.

    Raises:
        UserError: if the folder holds no translator.
        UsageError: for a setting that it has fixed.
    """
    config = read_config(start_from, "translator")
    if start_from.resolve() == folder.resolve():
        raise UsageError(
            f"the model to train on and the new one are the same folder, {folder}",
            where=f"--from {start_from}",
            hint="Name another folder with `-o`; to go on with the run itself use `--resume` without --from.",
        )
    kept = {"model": config.get("model", {}), "tokenizer": config.get("recipe", {}).get("tokenizer", {})}
    check_kept(given, chosen, kept, f"The sizes and the tokenizer are those of {start_from}: leave it out.")
    dropout = {name: value for name, value in chosen.model.model_dump().items() if "dropout" in name}
    now = {name: value for name, value in dropout.items() if f"model.{name}" in given}
    merged = chosen.model_dump() | {"model": kept["model"] | now}
    merged["tokenizer"] |= {name: value for name, value in kept["tokenizer"].items() if "dropout" not in name}
    try:
        return load_recipe("fast", _flat(merged))
    except UsageError as error:
        raise UsageError(
            error.what,
            where=f"--from {start_from}",
            hint=f"The sizes and the tokenizer are those of {start_from}; change what does not fit them.",
        ) from error


def _flat(sections: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    return {f"{section}.{name}": value for section, fields in sections.items() for name, value in fields.items()}

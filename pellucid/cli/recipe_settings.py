"""`pellucid train settings`: every setting of a recipe, its value there, and what it is."""

import json
from typing import Annotated

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_FLAGS, Flags, Settings

__all__ = ["recipe_settings"]


def recipe_settings(
    recipe: str = "fast",
    /,
    *,
    lm: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    settings: Settings = None,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """List the settings of a recipe as TOML, each with what it is; the output is a recipe file itself.

    Args:
        recipe: fast, tiny, small, base or big; of a language model fast, tiny, gpt or llama; or a TOML file.
        lm: List those of a language model's recipe.
        as_json: Print one JSON object, a list of name, value and description.
    """
    from pellucid.training.recipe import (
        LanguageModelRecipe,
        Recipe,
        TranslatorRecipe,
        load_recipe,
        setting_descriptions,
    )

    kind: type[Recipe] = LanguageModelRecipe if lm else TranslatorRecipe
    chosen = load_recipe(recipe, settings, kind).model_dump(mode="json")
    rows = [
        {"name": name, "value": chosen[name.split(".")[0]][name.split(".")[1]], "description": description}
        for name, description in setting_descriptions(kind).items()
    ]
    if as_json:
        console.data_json(rows)
        return
    shown = ""
    for row in rows:
        section, field = str(row["name"]).split(".")
        if section != shown:
            if shown:
                console.data("")
            console.data(f"[{section}]")
            shown = section
        console.data(f"# {row['description']}\n{field} = {_toml(row['value'])}")


def _toml(value: object) -> str:
    """Write a value as TOML; what is unset is "none", as on the command line."""
    if value is None:
        return '"none"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_toml(inner)}" for name, inner in value.items()) + " }"
    # A string of JSON is one of TOML, with the same escapes.
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)

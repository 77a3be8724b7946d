"""`pellucid train settings`: every setting of a recipe, with its value, meaning and possible values."""

import json

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_FLAGS, Flags, JsonSwitch, Switch
from pellucid.cli.training_flags import DEFAULT_TRAINING_FLAGS, Settings, given_settings

__all__ = ["recipe_settings"]


def recipe_settings(
    recipe: str = "fast",
    /,
    *,
    lm: Switch = False,
    as_json: JsonSwitch = False,
    flags: Flags = DEFAULT_FLAGS,
    **settings: Settings,
) -> None:
    """List a recipe's settings with their descriptions and possible values.

    The output is TOML, and a recipe itself.

    Args:
        recipe: fast, tiny, small, base or big; with --lm fast, tiny, gpt or llama; or a TOML file.
        lm: List the settings of a language model's recipe.
        as_json: Print a JSON list of objects with name, value, description and values.
    """
    from pellucid.training.recipe import LanguageModelRecipe, Recipe, TranslatorRecipe, load_recipe, settings_of

    kind: type[Recipe] = LanguageModelRecipe if lm else TranslatorRecipe
    chosen = load_recipe(recipe, given_settings(settings, DEFAULT_TRAINING_FLAGS), kind).model_dump(mode="json")
    if as_json:
        rows = [
            {
                "name": setting.name,
                "value": chosen[setting.section][setting.field],
                "description": setting.description,
                "values": setting.values,
            }
            for setting in settings_of(kind).values()
        ]
        console.data_json(rows)
        return
    for number, (section, fields) in enumerate(chosen.items()):
        console.data(f"{chr(10) if number else ''}[{section}]")
        for field, value in fields.items():
            setting = settings_of(kind)[f"{section}.{field}"]
            console.data(f"# {setting.description}\n{field} = {_toml(value)}  # {setting.values}")


def _toml(value: object) -> str:
    """Write a value as TOML; an unset one is "none", as on the command line."""
    if value is None:
        return '"none"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_toml(inner)}" for name, inner in value.items()) + " }"
    # A JSON string is a valid TOML string, with the same escapes.
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)

"""The settings of a recipe: what each is called, what it means and which values it takes."""

from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel

__all__ = ["RecipeSetting", "describe_settings"]


class RecipeSetting(NamedTuple):
    """A field of a section of a recipe.

    Attributes:
        section, field: where it is.
        description: one phrase, with the unit.
        values: what may be given, such as `integer > 0, or none`.
        optional: whether `none` unsets it.
    """

    section: str
    field: str
    description: str
    values: str
    optional: bool

    @property
    def name(self) -> str:
        """`section.field`, as on the command line."""
        return f"{self.section}.{self.field}"


def describe_settings(sections: Mapping[str, type[BaseModel]]) -> list[RecipeSetting]:
    """List the settings of some sections, in their order."""
    return [
        RecipeSetting(
            section,
            name,
            field.description or "",
            _values(model.model_json_schema()["properties"][name]),
            type(None) in get_args(field.annotation),
        )
        for section, model in sections.items()
        for name, field in model.model_fields.items()
    ]


_BOUNDS = {"exclusiveMinimum": ">", "minimum": ">=", "exclusiveMaximum": "<", "maximum": "<="}


def _values(schema: Mapping[str, Any]) -> str:
    """Describe which values a JSON schema allows."""
    match schema:
        case {"anyOf": options}:
            return ", or ".join(_values(option) for option in options)
        case {"enum": names}:
            return " | ".join(map(str, names))
        case {"type": "null"}:
            return "none"
        case {"type": "boolean"}:
            return "true | false"
        case {"type": "array", "items": item}:
            return f"list, each {_values(item)}"
        case {"type": ("integer" | "number" | "string") as kind}:
            bounds = [f"{sign} {schema[bound]:g}" for bound, sign in _BOUNDS.items() if bound in schema]
            return " ".join([kind, " and ".join(bounds)]).rstrip()
        case _:
            return "table"

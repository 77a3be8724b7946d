"""A model's settings with some of them changed for one call."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from pellucid.errors import UserError

__all__ = ["changed_settings"]

Config = TypeVar("Config", bound=BaseModel)


def changed_settings(config: Config, changes: Mapping[str, Any]) -> Config:
    """Return `config` with some fields changed; None changes nothing.

    Raises:
        UserError: for a field that does not exist or a value that does not fit.
    """
    changed = {name: value for name, value in changes.items() if value is not None}
    try:
        return type(config).model_validate(config.model_dump() | changed)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        message = first["msg"].removeprefix("Value error, ")
        known = ", ".join(type(config).model_fields)
        hint = f"There are {known}." if first["type"] == "extra_forbidden" else ""
        message = f"{message[:1].lower()}{message[1:]}"
        raise UserError(f"{name}: {message}" if name else message, where=name or (), hint=hint) from error

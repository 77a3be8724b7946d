"""Settings of a model: read from its folder, and overridden for one call."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from pellucid.errors import UserError
from pellucid.storage.model_folder import read_json

__all__ = ["override_settings", "read_settings"]

Config = TypeVar("Config", bound=BaseModel)


def override_settings(config: Config, changes: Mapping[str, Any]) -> Config:
    """Override some fields of a configuration; None leaves a field unchanged.

    Raises:
        UserError: for an unknown field or an invalid value.
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


def read_settings(folder: Path, kind: type[Config]) -> Config:
    """Read generation_config.json of a model folder; the defaults if there is none.

    Raises:
        UserError: if it is damaged or invalid.
    """
    path = folder / "generation_config.json"
    if not path.is_file():
        return kind()
    try:
        return kind.model_validate(read_json(path))
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(
            f"generation_config.json does not fit: {'.'.join(map(str, first['loc']))}: {first['msg']}",
            where=str(path),
            hint="Correct the value, or remove the file to use the defaults.",
        ) from error

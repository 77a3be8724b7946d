"""Flags made from the fields of a settings model, with their descriptions as help."""

from copy import copy
from typing import Annotated, Any

from cyclopts import Parameter
from pydantic import BaseModel, Field, create_model

__all__ = ["described_as_flags", "flags_of", "given_fields", "help_sentence"]


def help_sentence(description: str | None, more: str = "") -> str:
    """Turn the description of a setting into help: with a capital and a full stop, like the help of other flags."""
    text = f"{description or ''}{more}"
    first = text[:1].upper() if text[:1].isascii() else text[:1]
    return f"{first}{text[1:]}" if text.endswith((".", "…")) or not text else f"{first}{text[1:]}."


def described_as_flags(config: type[BaseModel]) -> Any:
    """Derive a settings model whose descriptions are written as the help of flags; all else stays the same."""
    fields: dict[str, Any] = {}
    for field, info in config.model_fields.items():
        fields[field] = (info.annotation, copy(info))
        fields[field][1].description = help_sentence(info.description)
    return create_model(config.__name__, __base__=config, **fields)


def flags_of(config: type[BaseModel], name: str, *, leave_out: tuple[str, ...] = (), **parameters: Parameter) -> Any:
    """Create the type of an argument that takes the fields of a settings model as flags.

    A flag that is not given is None: the model's own setting then applies. Values are validated with the settings that
    they override, not here.

    Args:
        leave_out: fields without a flag.
        parameters: how cyclopts treats the flag of a field, such as its short name.
    """
    fields: dict[str, Any] = {}
    for field, info in config.model_fields.items():
        if field not in leave_out:
            kind: Any = info.annotation
            flag = Annotated[kind | None, parameters.get(field, Parameter())]
            fields[field] = (flag, Field(None, description=help_sentence(info.description)))
    return Annotated[create_model(name, **fields), Parameter(name="*", show_default=False)]


def given_fields(flags: BaseModel | None) -> dict[str, Any]:
    """List the fields that were given as flags, of an argument whose type is from `flags_of`."""
    return {} if flags is None else flags.model_dump(exclude_none=True)

"""Flags made from a settings model: one for each field, with its description as help, and no default of their own."""

from typing import Annotated, Any

from cyclopts import Parameter
from pydantic import BaseModel, Field, create_model

__all__ = ["flags_of"]


def flags_of(config: type[BaseModel], name: str, *, leave_out: tuple[str, ...] = (), **parameters: Parameter) -> Any:
    """Create the type of an argument that takes the fields of a settings model as flags.

    A flag that is not given is None: the model's own setting then applies. Values are validated with the settings that
    they override, not here.

    Args:
        config: the settings model.
        name: of the type.
        leave_out: fields without a flag.
        parameters: how cyclopts treats the flag of a field, such as its short name.
    """
    fields: dict[str, Any] = {}
    for field, info in config.model_fields.items():
        if field not in leave_out:
            kind: Any = info.annotation
            flag = Annotated[kind | None, parameters.get(field, Parameter())]
            fields[field] = (flag, Field(None, description=info.description))
    return Annotated[create_model(name, **fields), Parameter(name="*", show_default=False)]

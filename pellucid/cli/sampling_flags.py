"""Flags of the commands that generate text."""

from typing import TYPE_CHECKING, Any

from cyclopts import Parameter
from pydantic import BaseModel

from pellucid.cli.config_flags import flags_of
from pellucid.generation.sampling_config import SamplingConfig

__all__ = ["SamplingFlags", "sampling_settings"]

if TYPE_CHECKING:
    SamplingFlags = BaseModel | None
else:
    SamplingFlags = flags_of(
        SamplingConfig,
        "SamplingFlags",
        leave_out=("samples", "alternatives"),
        tokens=Parameter(name=["--tokens", "-n"]),
        stop=Parameter(negative=""),
        sliding=Parameter(negative=""),
    )


def sampling_settings(sampling: BaseModel | None) -> dict[str, Any]:
    """Return the settings that were given as flags."""
    return {} if sampling is None else sampling.model_dump(exclude_none=True)

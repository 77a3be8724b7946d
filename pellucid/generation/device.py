"""Where a model runs, and in which numbers."""

from typing import TypeVar

import torch
from torch import nn

from pellucid.errors import UsageError

__all__ = ["move_model", "select_device"]

Model = TypeVar("Model", bound=nn.Module)

_DTYPES = {"auto": torch.float32, "float32": torch.float32, "bfloat16": torch.bfloat16}


def move_model(model: Model, device: str, precision: str) -> Model:
    """Put a model where it shall run, in the numbers that it shall compute in.

    Args:
        model: a model.
        device: auto (CUDA where there is one), cpu, cuda, cuda:1 …
        precision: float32 or bfloat16; auto is float32.

    Raises:
        UsageError: for a device or a precision that does not exist here.
    """
    if precision not in _DTYPES:
        raise UsageError(
            f"precision {precision} is not there for this model",
            where="--precision",
            hint=f"Use {', '.join(_DTYPES)}.",
        )
    return model.to(select_device(device), _DTYPES[precision])


def select_device(name: str) -> torch.device:
    """Return a device by its name; auto is CUDA where there is one, the processor otherwise.

    Raises:
        UsageError: if there is none of that name here.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise UsageError(
            f"there is no device {name} here", where=f"--device {name}", hint="Use cpu or auto."
        ) from error
    return device

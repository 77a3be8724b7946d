"""The device and the dtype of a model."""

from typing import TypeVar

import torch
from torch import nn

from pellucid.errors import UsageError

__all__ = ["move_model", "select_device"]

Model = TypeVar("Model", bound=nn.Module)

_DTYPES = {"auto": torch.float32, "float32": torch.float32, "bfloat16": torch.bfloat16}


def move_model(model: Model, device: str, precision: str) -> Model:
    """Move a model to a device and dtype.

    Args:
        device: auto (CUDA if available), cpu, cuda, cuda:1 …
        precision: float32 or bfloat16; auto is float32.

    Raises:
        UsageError: for a device or precision that is not available.
    """
    if precision not in _DTYPES:
        raise UsageError(
            f"this model does not run in precision {precision}", where="--precision", hint=f"Use {', '.join(_DTYPES)}."
        )
    return model.to(select_device(device), _DTYPES[precision])


def select_device(name: str) -> torch.device:
    """Find a device by its name; auto is CUDA if available, else the CPU.

    Raises:
        UsageError: if there is no such device.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise UsageError(
            f"device {name} is not available", where=f"--device {name}", hint="Use cpu or auto."
        ) from error
    return device

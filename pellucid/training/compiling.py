"""Whether torch.compile works here: it needs a C++ compiler, which not every machine has."""

import torch
from torch import Tensor

from pellucid.errors import UserError

__all__ = ["check_compiler"]


def check_compiler(device: torch.device) -> None:
    """Compile a trivial function, so that a missing compiler is found before the text is read.

    Raises:
        UserError: with the reason that PyTorch gives.
    """
    try:
        torch.compile(_next)(torch.zeros(2, device=device))
    except (RuntimeError, OSError) as error:  # no compiler, one that does not work, no folder to compile in
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise UserError(
            f"torch.compile does not work here: {reason}",
            where="--training.compile true",
            hint="Leave it out (results are the same), or install a C++ compiler such as g++, and Triton for CUDA.",
        ) from error


def _next(x: Tensor) -> Tensor:
    return x + 1

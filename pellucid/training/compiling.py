"""Whether PyTorch can compile a model here: it needs a compiler of its own, which not every machine has."""

import torch
from torch import Tensor

from pellucid.errors import UserError

__all__ = ["check_compiler"]


def check_compiler(device: torch.device) -> None:
    """Compile next to nothing, so that a missing compiler is found before the text is read, not at the first step.

    Raises:
        UserError: with what PyTorch says is missing.
    """
    try:
        torch.compile(_next)(torch.zeros(2, device=device))
    except (RuntimeError, OSError) as error:  # no compiler, one that does not work, no folder to compile in
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise UserError(
            f"the model cannot be compiled here: {reason}",
            where="--training.compile true",
            hint="Leave it out, the model learns the same; or install what PyTorch compiles with: a C++ compiler such "
            "as g++, for CUDA also Triton.",
        ) from error


def _next(x: Tensor) -> Tensor:
    return x + 1

"""The dtype of matrix products in training."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

__all__ = ["autocast", "training_dtype"]


def training_dtype(precision: str) -> torch.dtype:
    """Find the dtype of a precision by name; `auto`, as long as nothing is measured, is float32."""
    return torch.bfloat16 if precision == "bfloat16" else torch.float32


def autocast(dtype: torch.dtype, device: torch.device) -> AbstractContextManager[Any]:
    """Compute matrix products in `dtype`; sums, softmax and norms stay in float32."""
    return nullcontext() if dtype == torch.float32 else torch.autocast(device.type, dtype)

"""The dtype of matrix products in training."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

__all__ = ["autocast", "training_dtype"]


def training_dtype(precision: str, device: torch.device) -> torch.dtype:
    """Choose float32 or bfloat16; `auto` takes bfloat16 where the device supports it natively."""
    if precision == "auto":
        native = torch.cuda.is_bf16_supported(False) if device.type == "cuda" else _cpu_has_bfloat16()
        return torch.bfloat16 if native else torch.float32
    return {"float32": torch.float32, "bfloat16": torch.bfloat16}[precision]


def autocast(dtype: torch.dtype, device: torch.device) -> AbstractContextManager[Any]:
    """Compute matrix products in `dtype`; sums, softmax and norms stay in float32."""
    return nullcontext() if dtype == torch.float32 else torch.autocast(device.type, dtype)


def _cpu_has_bfloat16() -> bool:
    capabilities = torch.cpu.get_capabilities()
    return any(capabilities.get(name, False) for name in ("avx512_bf16", "amx_bf16", "bf16"))

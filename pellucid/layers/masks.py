"""Who may look at whom: boolean masks, True where looking is allowed."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

__all__ = ["causal", "not_padding"]


def causal(length: int, device: torch.device | None = None) -> Bool[Tensor, "1 1 query key"]:
    """Let each position look at itself and at those before it.

    Source:
        Vaswani et al. 2017, §3.2.3.
    """
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]


def not_padding(ids: Int[Tensor, "batch key"], pad_id: int) -> Bool[Tensor, "batch 1 1 key"]:
    """Let everyone look at every token that is not padding."""
    return (ids != pad_id)[:, None, None, :]

"""Attention masks: True where a query may attend to a key."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

__all__ = ["causal", "not_padding"]


def causal(length: int, device: torch.device | None = None) -> Bool[Tensor, "1 1 query key"]:
    """Allow each position to attend to itself and to those before it.

    Source:
        Vaswani et al. 2017, §3.2.3.
    """
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]


def not_padding(ids: Int[Tensor, "batch key"], pad_id: int) -> Bool[Tensor, "batch 1 1 key"]:
    """Allow attention to every token that is not padding."""
    return (ids != pad_id)[:, None, None, :]

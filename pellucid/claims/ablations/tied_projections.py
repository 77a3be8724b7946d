"""Attention with one matrix for queries and keys."""

from torch import nn

from pellucid.layers.attention import Attention

__all__ = ["tie_queries_and_keys"]


def tie_queries_and_keys(model: nn.Module) -> nn.Module:
    """Make every attention of a model use one projection for queries and keys (W_Q = W_K), in place."""
    for part in model.modules():
        if isinstance(part, Attention):
            part.key = part.query
    return model

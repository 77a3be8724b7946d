"""A norm frozen at the scale that it has for some x: a linear map, through which the terms of a sum pass one by one.

norm(x) = (x − mean(x)) · scale(x) · weight + shift for LayerNorm; RMSNorm has neither mean nor shift. With scale(x)
frozen, terms that sum to x are mapped to terms that sum to norm(x) exactly, except for the shift.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from pellucid.layers.norms import RMSNorm

__all__ = ["FrozenNorm", "freeze_norm"]


class FrozenNorm(NamedTuple):
    """A norm with a fixed scale.

    Attributes:
        scale: factor of each position, [... seq 1].
        weight: factor of each dimension, [d_model].
        shift: added at the end, [d_model].
        centres: whether the mean over the dimensions is subtracted first.
    """

    scale: Tensor
    weight: Tensor
    shift: Tensor
    centres: bool

    def apply(self, term: Tensor) -> Tensor:
        """Map a term of x to its term of norm(x), without the shift."""
        if self.centres:
            term = term - term.mean(-1, keepdim=True)
        return term * self.scale * self.weight


def freeze_norm(norm: nn.Module, x: Tensor) -> FrozenNorm:
    """Freeze a norm at the scale it has for `x`, in float64.

    Args:
        norm: LayerNorm, RMSNorm, or the identity where there is no norm.
        x: what is normalised, [... seq d_model].

    Raises:
        TypeError: for another kind of norm.
    """
    x = x.double()
    match norm:
        case nn.LayerNorm():
            scale = torch.rsqrt(x.var(-1, correction=0, keepdim=True) + norm.eps)
            weight = norm.weight.detach().double().cpu()
            bias: Tensor | None = norm.bias  # LayerNorm(bias=False) has none
            shift = torch.zeros_like(weight) if bias is None else bias.detach().double().cpu()
            return FrozenNorm(scale, weight, shift, centres=True)
        case RMSNorm():
            scale = torch.rsqrt(x.square().mean(-1, keepdim=True) + norm.epsilon)
            weight = norm.weight.detach().double().cpu()
            return FrozenNorm(scale, weight, torch.zeros_like(weight), centres=False)
        case nn.Identity():
            ones = torch.ones(x.shape[-1], dtype=torch.float64)
            return FrozenNorm(torch.ones_like(x[..., :1]), ones, torch.zeros_like(ones), centres=False)
    raise TypeError(f"{type(norm).__name__} has no known linear form")

"""A normalisation at the scale it was measured to have: a linear map, through which a sum can be followed.

norm(x) = (x − mean(x)) · scale(x) · weight + shift for LayerNorm; RMSNorm does not subtract the mean and has no shift.
With scale(x) kept at its value for the whole x, parts that sum to x go through one by one, and what comes out sums to
norm(x) exactly; the shift belongs to none of them.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from pellucid.layers.norms import RMSNorm

__all__ = ["FrozenNorm", "freeze_norm"]


class FrozenNorm(NamedTuple):
    """A norm at a fixed scale.

    Attributes:
        scale: what each position is multiplied by, [... seq 1].
        weight: what each dimension is multiplied by, [d_model].
        shift: what is added at the end, [d_model].
        centres: whether the mean of the dimensions is subtracted first.
    """

    scale: Tensor
    weight: Tensor
    shift: Tensor
    centres: bool

    def apply(self, part: Tensor) -> Tensor:
        """Compute what a part of x adds to norm(x), without the shift."""
        if self.centres:
            part = part - part.mean(-1, keepdim=True)
        return part * self.scale * self.weight


def freeze_norm(norm: nn.Module, x: Tensor) -> FrozenNorm:
    """Return a norm at the scale it has for `x`, in float64.

    Args:
        norm: LayerNorm, RMSNorm, or the identity of a place without a norm.
        x: the whole that is normalised, [... seq d_model].

    Raises:
        TypeError: for a norm of another kind.
    """
    x = x.double()
    if isinstance(norm, nn.LayerNorm):
        scale = torch.rsqrt(x.var(-1, correction=0, keepdim=True) + norm.eps)
        weight = norm.weight.detach().double().cpu()
        bias: Tensor | None = norm.bias  # LayerNorm(bias=False) has none
        shift = torch.zeros_like(weight) if bias is None else bias.detach().double().cpu()
        return FrozenNorm(scale, weight, shift, centres=True)
    if isinstance(norm, RMSNorm):
        scale = torch.rsqrt(x.square().mean(-1, keepdim=True) + norm.epsilon)
        weight = norm.weight.detach().double().cpu()
        return FrozenNorm(scale, weight, torch.zeros_like(weight), centres=False)
    if isinstance(norm, nn.Identity):
        ones = torch.ones(x.shape[-1], dtype=torch.float64)
        return FrozenNorm(torch.ones_like(x[..., :1]), ones, torch.zeros_like(ones), centres=False)
    raise TypeError(f"no linear form is known of {type(norm).__name__}")

"""Normalisation layers."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

__all__ = ["NORMS", "RMSNorm"]


class RMSNorm(nn.Module):
    """Divide by the root of the mean square, then scale each dimension.

    x / √(mean(x²) + epsilon) · weight, computed in float32.

    Source:
        Zhang & Sennrich 2019, eq. 4.
    """

    def __init__(self, d_model: int, epsilon: float = 1e-6) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.epsilon = epsilon

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Normalise the last axis."""
        wide = x.float()
        return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.epsilon) * self.weight).to(x.dtype)


NORMS: dict[str, Callable[..., nn.Module]] = {"layernorm": nn.LayerNorm, "rmsnorm": RMSNorm}

"""Rotary positions: a query and a key are turned by their places, so their product sees only how far apart they are."""

import math
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

__all__ = ["Rotary", "no_rotation", "rotary_frequencies", "scaled_frequencies"]


def rotary_frequencies(d_head: int, base: float) -> Float[Tensor, " pairs"]:
    """Return what each pair of coordinates turns by a position, base^(−2i/d_head) radians, in float64.

    Args:
        d_head: width of a head; even.
        base: the slowest pair turns once in about 2π · base positions.

    Source:
        Su et al. 2021 (RoFormer), §3.2.2.
    """
    return base ** (-torch.arange(0, d_head, 2, dtype=torch.float64) / d_head)


def scaled_frequencies(
    rotary_frequencies: Float[Tensor, " pairs"],
    factor: float,
    low_frequency: float,
    high_frequency: float,
    original_positions: int,
) -> Float[Tensor, " pairs"]:
    """Return frequencies for a context longer than the model was first trained with.

    With n turns within the original context: n > high_frequency stays, n < low_frequency is divided by `factor`, and
    between the two the share (n − low_frequency) / (high_frequency − low_frequency) stays, the rest is divided.

    Source:
        Llama 3 (Grattafiori et al. 2024); the formula is that of its published code.
    """
    turns = original_positions * rotary_frequencies / (2 * math.pi)
    stays = ((turns - low_frequency) / (high_frequency - low_frequency)).clamp(0, 1)
    return stays * rotary_frequencies + (1 - stays) * rotary_frequencies / factor


def no_rotation(
    x: Float[Tensor, "batch heads seq d_head"], positions: Int[Tensor, "*batch seq"]
) -> Float[Tensor, "batch heads seq d_head"]:
    """Return `x` as it is: attention without rotary positions."""
    return x


class Rotary(nn.Module):
    """Turn each pair of coordinates (i, i + d_head/2) by position · frequency_i radians.

    ⟨turn(q, m), turn(k, n)⟩ depends on m − n only.

    Args:
        rotary_frequencies: of the d_head/2 pairs, radians a position.

    Source:
        Su et al. 2021 (RoFormer), eq. 34. Differs from source: coordinates i and i + d_head/2 are paired, not
        2i and 2i + 1 (a fixed permutation of the coordinates), as in Llama; two contiguous halves are faster.
    """

    cosines: Tensor
    sines: Tensor

    def __init__(self, rotary_frequencies: Float[Tensor, " pairs"]) -> None:
        super().__init__()
        self.rotary_frequencies = rotary_frequencies
        self.register_buffer("cosines", torch.empty(0, len(rotary_frequencies)), persistent=False)
        self.register_buffer("sines", torch.empty(0, len(rotary_frequencies)), persistent=False)
        self.grow(256)

    def grow(self, positions: int) -> None:
        """Hold the cosines and sines of this many positions, computed in float64, kept in the model's precision."""
        angles = torch.arange(positions, dtype=torch.float64)[:, None] * self.rotary_frequencies
        self.cosines = angles.cos().to(self.cosines)
        self.sines = angles.sin().to(self.sines)

    def forward(
        self, x: Float[Tensor, "batch heads seq d_head"], positions: Int[Tensor, "*batch seq"]
    ) -> Float[Tensor, "batch heads seq d_head"]:
        """Turn the rows of `x` by their positions, the same for the whole batch or each sequence's own."""
        furthest = int(positions.max()) + 1
        if furthest > len(self.cosines):
            self.grow(max(furthest, 2 * len(self.cosines)))
        cosine, sine = self.cosines[positions].to(x.dtype), self.sines[positions].to(x.dtype)
        cosine, sine = cosine.unsqueeze(-3), sine.unsqueeze(-3)  # the same for all heads
        turned: Tensor = _Turn.apply(x, cosine, sine)  # type: ignore[no-untyped-call]
        return turned


class _Turn(torch.autograd.Function):
    """Turn by an angle; the gradient is turned back by it (half the operations that differentiating them makes)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        ctx.save_for_backward(cosine, sine)
        return _turned(x, cosine, sine)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        cosine, sine = ctx.saved_tensors
        return _turned(gradients[0], cosine, -sine), None, None


def _turned(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Return (x₁ cos − x₂ sin, x₁ sin + x₂ cos), written to its place without parts in between."""
    first, second = x.chunk(2, dim=-1)
    turned = torch.empty_like(x, memory_format=torch.contiguous_format)
    left, right = turned.chunk(2, dim=-1)
    left.copy_(first).mul_(cosine).addcmul_(second, sine, value=-1)
    right.copy_(first).mul_(sine).addcmul_(second, cosine)
    return turned

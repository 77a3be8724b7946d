"""Rotary positions: rotating queries and keys, so that their product depends on their distance only."""

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

__all__ = ["rotary_frequencies", "rotate_pairs", "scaled_frequencies"]


def rotary_frequencies(d_head: int, base: float) -> Float[Tensor, " pairs"]:
    """Compute the angle by which each pair of coordinates rotates per position, base^(−2i/d_head), in float64.

    Args:
        d_head: width of a head; even.
        base: the slowest pair completes a rotation in about 2π · base positions.

    Source:
        Su et al. 2021 (RoFormer), §3.2.2.
    """
    return base ** (-torch.arange(0, d_head, 2, dtype=torch.float64) / d_head)


def scaled_frequencies(
    frequencies: Float[Tensor, " pairs"],
    factor: float,
    low_frequency: float,
    high_frequency: float,
    original_positions: int,
) -> Float[Tensor, " pairs"]:
    """Scale frequencies for a context longer than the model was first trained with.

    Let n be a pair's number of rotations within the original context. Its frequency is unchanged if n > high_frequency,
    and divided by `factor` if n < low_frequency. In between the two are interpolated; the weight of the unchanged
    frequency is (n − low_frequency) / (high_frequency − low_frequency).

    Source:
        Llama 3 (Grattafiori et al. 2024); the formula is that of its published code.
    """
    rotations = original_positions * frequencies / (2 * math.pi)
    unchanged = ((rotations - low_frequency) / (high_frequency - low_frequency)).clamp(0, 1)
    return unchanged * frequencies + (1 - unchanged) * frequencies / factor


def rotate_pairs(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Rotate each pair of coordinates (i, i + d_head/2) by its angle: (x₁ cos − x₂ sin, x₁ sin + x₂ cos)."""
    rotated: Tensor = _RotatePairs.apply(x, cosine, sine)  # type: ignore[no-untyped-call]
    return rotated


class _RotatePairs(torch.autograd.Function):
    """Rotates pairs; the gradient is rotated back, which takes half the operations of differentiating the formula."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        ctx.save_for_backward(cosine, sine)
        return _rotated(x, cosine, sine)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        cosine, sine = ctx.saved_tensors
        return _rotated(gradients[0], cosine, -sine), None, None


def _rotated(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Write the rotated halves directly into the result, without intermediate tensors."""
    first, second = x.chunk(2, dim=-1)
    rotated = torch.empty_like(x, memory_format=torch.contiguous_format)
    left, right = rotated.chunk(2, dim=-1)
    left.copy_(first).mul_(cosine).addcmul_(second, sine, value=-1)
    right.copy_(first).mul_(sine).addcmul_(second, cosine)
    return rotated

"""A1: attention is softmax(QKᵀ/√d)V."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from pellucid.claims.activations import Activations
from pellucid.claims.claim import Setup, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import torch_generator
from pellucid.layers.attention import attend
from pellucid.layers.masks import causal

__all__ = ["CLAIM", "measure"]

Attend = Callable[..., Tensor]
_KINDS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def _masks(random: torch.Generator) -> dict[str, Tensor]:
    length = 12
    some = torch.rand(2, 1, length, length, generator=random) > 0.4
    return {
        "none": torch.ones(1, 1, length, length, dtype=torch.bool),
        "causal": causal(length),
        "padding": torch.arange(length)[None, None, None] < torch.tensor([length, 5]).view(2, 1, 1, 1),
        "at random": some | torch.eye(length, dtype=torch.bool),
    }


def measure(setup: Setup, explicit: Attend = attend) -> Evidence:
    """Compare attention with a tap, without one, PyTorch's fused kernel, and the formula written out in float64."""
    random, records = torch_generator(setup.seed, "A1"), []
    worst = dict.fromkeys(("float32", "bfloat16"), 0.0)
    for name, mask in _masks(random).items():
        q, k, v = torch.randn(3, 2, 4, 12, 16, generator=random)
        for kind, dtype in _KINDS.items():
            q_, k_, v_ = (x.to(dtype) for x in (q, k, v))
            a, b, c = (x.double() for x in (q_, k_, v_))
            scores = (a @ b.transpose(-1, -2) / 16**0.5).masked_fill(~mask, float("-inf"))
            formula = scores.softmax(-1) @ c
            paths = {
                "explicit": explicit(q_, k_, v_, mask, Activations()),
                "plain": attend(q_, k_, v_, mask),
                "fused": F.scaled_dot_product_attention(q_, k_, v_, attn_mask=mask),
            }
            for path, result in paths.items():
                error = float((result.double() - formula).abs().max())
                records.append({"mask": name, "path": path, "precision": kind, "error": error})
                worst[kind] = max(worst[kind], error)
    numbers = exact_values(largest_difference_float32=worst["float32"], largest_difference_bfloat16=worst["bfloat16"])
    return Evidence(numbers, records, Figure("bar", "mask", "error", "path", column="precision"))


CLAIM = claim(measure, at_most("largest_difference_float32", 1e-5), at_most("largest_difference_bfloat16", 0.05))

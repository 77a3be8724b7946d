"""M2: matrix maps are linear."""

from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.claims.claim import Setup, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import small_decoder, torch_generator
from pellucid.layers.feed_forward import FeedForward

__all__ = ["CLAIM", "measure"]

Map = Callable[[Tensor], Tensor]


def projections(seed: int) -> dict[str, Map]:
    """Collect the matrices of a small model's first block, each as a map, in float64."""
    block = next(small_decoder(seed, activation="relu", bias=False).double().blocks())
    attention, feed_forward = block.self_attention, block.feed_forward
    assert isinstance(feed_forward, FeedForward)
    return {
        "W_Q": attention.query, "W_K": attention.key, "W_V": attention.value, "W_O": attention.output,
        "W_1": feed_forward.up_projection, "W_2": feed_forward.down_projection,
    }  # fmt: skip


def measure(setup: Setup, maps: dict[str, Map] | None = None) -> Evidence:
    """Compare f(ax + by) with a f(x) + b f(y) for each map, relative to the image."""
    random, records, largest = torch_generator(setup.seed, "M2"), [], 0.0
    for name, f in (maps or projections(setup.seed)).items():
        width = 64 if name == "W_2" else 32
        worst = 0.0
        for _ in range(20):
            x, y = torch.randn(2, width, generator=random, dtype=torch.float64)
            a, b = torch.randn(2, generator=random, dtype=torch.float64)
            with torch.no_grad():
                joint, apart = f(a * x + b * y), a * f(x) + b * f(y)
            worst = max(worst, float((joint - apart).norm() / apart.norm()))
        records.append({"matrix": name, "error": worst})
        largest = max(largest, worst)
    return Evidence(exact_values(largest_difference=largest), records, Figure("bar", "matrix", "error"))


CLAIM = claim(measure, at_most("largest_difference", 1e-10))

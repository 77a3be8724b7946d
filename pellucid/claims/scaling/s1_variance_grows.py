"""S1: the variance of a dot product grows with the dimension."""

from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.claims.activations import Activations
from pellucid.claims.claim import Setup, at_least, at_most, claim
from pellucid.claims.evidence import Estimate, Evidence, Figure, mean_over_seeds
from pellucid.claims.small_models import torch_generator
from pellucid.layers.attention import attend

__all__ = ["CLAIM", "WIDTHS", "attention_scores", "draw_normal", "measure", "paired_scores", "score_variances"]

WIDTHS = tuple(2**power for power in range(11))
_PAIRS = 2_000  # pairs share no query or key, so their products are independent

Draw = Callable[[tuple[int, ...], torch.Generator], Tensor]


def draw_normal(shape: tuple[int, ...], random: torch.Generator) -> Tensor:
    """Draw independent numbers with mean 0 and variance 1."""
    return torch.randn(shape, generator=random)


def attention_scores(query: Tensor, key: Tensor) -> Tensor:
    """Compute the attention scores of queries and keys before the softmax, [rows keys]."""
    activations = Activations()
    mask = torch.ones(1, 1, 1, 1, dtype=torch.bool)
    attend(query[None, None], key[None, None], key[None, None], mask, activations)
    return activations["scores"][0, 0]


def paired_scores(query: Tensor, key: Tensor) -> Tensor:
    """Compute the scores of separate query–key pairs, [pairs]."""
    activations = Activations()
    mask = torch.ones(1, 1, 1, 1, dtype=torch.bool)
    q, k = query[:, None, None], key[:, None, None]
    attend(q, k, k, mask, activations)
    return activations["scores"].flatten()


def score_variances(
    seed: int, name: str, score: Callable[[Tensor, Tensor], Tensor], draw: Draw = draw_normal
) -> list[Estimate]:
    """Estimate the variance of a score for each dimension, with a 95 % interval over ten draws."""
    found = []
    for d in WIDTHS:
        random = torch_generator(seed, name, "pairs", d)
        variances = []
        for _ in range(10):
            q, k = draw((_PAIRS, d), random), draw((_PAIRS, d), random)
            variances.append(float(score(q, k).var()))
        found.append(mean_over_seeds(variances))
    return found


def measure(setup: Setup, draw: Draw = draw_normal) -> Evidence:
    """Measure the variance of q·k for dimensions from 1 to 1,024."""
    variances = score_variances(setup.seed, "S1", lambda q, k: paired_scores(q, k) * q.shape[1] ** 0.5, draw)
    ratios = [Estimate(v.value / d, v.low / d, v.high / d, v.n) for v, d in zip(variances, WIDTHS, strict=True)]
    records = [
        {"d_k": d, "variance": v.value, "low": max(v.low, 1e-3), "high": v.high}
        for v, d in zip(variances, WIDTHS, strict=True)
    ]
    numbers = {
        "least_variance_over_d": min(ratios, key=lambda ratio: ratio.value),
        "largest_variance_over_d": max(ratios, key=lambda ratio: ratio.value),
    }
    return Evidence(numbers, records, Figure("line", "d_k", "variance", log_x=True, log_y=True))


CLAIM = claim(measure, at_least("least_variance_over_d", 0.85), at_most("largest_variance_over_d", 1.15))

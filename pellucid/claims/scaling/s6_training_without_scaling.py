"""S6: without the scaling, training fails."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import nn

from pellucid.claims.ablations import without_scaling
from pellucid.claims.claim import Effort, Setup, at_least, claim
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds, share_over_seeds
from pellucid.claims.toy_tasks import Optimizer, accuracy, associative_recall, build_adamw, train_on_task

__all__ = ["CLAIM", "build_sgd", "measure"]

_WIDTHS = (16, 256)
_KINDS: dict[str, Callable[[nn.Module], nn.Module]] = {"scaled": lambda model: model, "not scaled": without_scaling}


def build_sgd(model: nn.Module, learning_rate: float) -> torch.optim.Optimizer:
    """Build stochastic gradient descent with momentum 0.9, whose step is proportional to the gradient."""
    return torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9)


_WAYS: dict[str, tuple[Optimizer, tuple[float, float]]] = {
    "AdamW": (build_adamw, (1e-3, 5e-3)),
    "SGD": (build_sgd, (0.1, 0.3)),
}


class _Variant(NamedTuple):
    """A training run: optimizer, head dimension, learning rate, kind of scores."""

    way: str
    width: int
    rate: float
    kind: str


def _accuracies(setup: Setup) -> dict[_Variant, list[float]]:
    found: dict[_Variant, list[float]] = {}
    for way, (optimizer, rates) in _WAYS.items():
        for variant in (_Variant(way, width, rate, kind) for width in _WIDTHS for rate in rates for kind in _KINDS):
            found[variant] = []
            for seed in setup.every_seed():
                model, _ = train_on_task(
                    associative_recall, seed, setup.steps, change=_KINDS[variant.kind], learning_rate=variant.rate,
                    optimizer=optimizer, positions="none", d_model=variant.width, d_ff=2 * variant.width, n_heads=1,
                )  # fmt: skip
                found[variant].append(accuracy(model, associative_recall, seed, texts=500))
    return found


def measure(setup: Setup) -> Evidence:
    """Train one head of two dimensions with and without scaling, by two optimizers at two learning rates."""
    found = _accuracies(setup)
    records = []
    for (way, width, rate, kind), values in found.items():
        mean = share_over_seeds(values)
        records.append({"d_k": str(width), "scores": kind, "optimizer": f"{way}, {rate:g}", **mean.columns("accuracy")})

    def lost(way: str, width: int, kept: bool) -> list[float]:
        """Compute the accuracy lost by seed: at the rate that suits scaled scores, or at the better rate for each."""
        rates = {
            kind: max(_WAYS[way][1], key=lambda rate: sum(found[_Variant(way, width, rate, kind)])) for kind in _KINDS
        }
        other = rates["scaled" if kept else "not scaled"]
        best = found[_Variant(way, width, rates["scaled"], "scaled")]
        without = found[_Variant(way, width, other, "not scaled")]
        return [a - b for a, b in zip(best, without, strict=True)]

    narrow, wide = (lost("SGD", width, kept=True) for width in _WIDTHS)
    numbers = {
        "lost_by_sgd_at_fixed_rate": mean_over_seeds((a + b) / 2 for a, b in zip(narrow, wide, strict=True)),
        "lost_by_adamw_d_256": mean_over_seeds(lost("AdamW", 256, kept=False)),
        "lost_by_adamw_d_16": mean_over_seeds(lost("AdamW", 16, kept=False)),
        **{f"lost_by_sgd_d_{width}": mean_over_seeds(lost("SGD", width, kept=False)) for width in _WIDTHS},
    }
    return Evidence(numbers, records, Figure("bar", "d_k", "accuracy", "scores", column="optimizer"))


CLAIM = claim(
    measure,
    at_least("lost_by_sgd_at_fixed_rate", 0.2, fails_at=0.05),
    outside=(at_least("lost_by_adamw_d_256", 0.2, fails_at=0.05),),
    effort=Effort(Setup(seeds=3, steps=20), Setup(seeds=4, steps=400)),
)

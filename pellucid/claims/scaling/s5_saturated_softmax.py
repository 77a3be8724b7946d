"""S5: unscaled scores kill the gradient."""

import torch
from torch import Tensor

from pellucid.claims.claim import Setup, at_least, at_most, claim
from pellucid.claims.evidence import Estimate, Evidence, Figure, mean_over_seeds
from pellucid.claims.scaling.s1_variance_grows import attention_scores
from pellucid.claims.scaling.s3_softmax_derivative import softmax_derivative
from pellucid.claims.small_models import torch_generator

__all__ = ["CLAIM", "measure"]

_WIDTHS = (4, 16, 64, 256, 1024)
_KEYS, _ROWS, _DRAWS = 16, 100, 8


def _jacobian_norm(z: Tensor) -> float:
    """Average the norm of the softmax's derivative over rows of scores."""
    return sum(float(softmax_derivative(row.softmax(0)).norm()) for row in z) / len(z)


def measure(setup: Setup, exponent: float = 0.5) -> Evidence:
    """Measure the norm of the softmax's derivative by dimension, with scaled and unscaled scores.

    Args:
        exponent: of d_k in the factor that undoes the scaling; 0 keeps the scaling.
    """
    norms: dict[tuple[str, int], list[float]] = {}
    for draw in range(_DRAWS):
        for d in _WIDTHS:
            random = torch_generator(setup.seed, "S5", draw, d)
            z = attention_scores(torch.randn(_ROWS, d, generator=random), torch.randn(_KEYS, d, generator=random))
            norms.setdefault(("scaled", d), []).append(_jacobian_norm(z))
            norms.setdefault(("not scaled", d), []).append(_jacobian_norm(z * d**exponent))
    records = []
    for (name, d), values in norms.items():
        mean = mean_over_seeds(values)
        records.append({"d_k": d, "scores": name, "norm": mean.value, "low": max(mean.low, 1e-9), "high": mean.high})

    def kept(name: str) -> Estimate:
        first, last = norms[name, _WIDTHS[0]], norms[name, _WIDTHS[-1]]
        return mean_over_seeds(b / a for a, b in zip(first, last, strict=True))

    numbers = {"remaining_at_1024_scaled": kept("scaled"), "remaining_at_1024_not_scaled": kept("not scaled")}
    return Evidence(numbers, records, Figure("line", "d_k", "norm", "scores", log_x=True, log_y=True))


CLAIM = claim(measure, at_most("remaining_at_1024_not_scaled", 0.5), at_least("remaining_at_1024_scaled", 0.8))

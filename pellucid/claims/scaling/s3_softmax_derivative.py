"""S3: the derivative of the softmax."""

from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.claims.claim import Setup, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import torch_generator

__all__ = ["CLAIM", "measure", "softmax_derivative"]

_STEP = 1e-6


def softmax_derivative(shares: Tensor) -> Tensor:
    """Compute S_i (δ_ij − S_j), [i j]."""
    return torch.diag(shares) - torch.outer(shares, shares)


def measure(setup: Setup, derivative: Callable[[Tensor], Tensor] = softmax_derivative) -> Evidence:
    """Compare the formula with automatic differentiation and with finite differences, for twenty sets of scores."""
    random, off, off_finite = torch_generator(setup.seed, "S3"), 0.0, 0.0
    for _ in range(20):
        scores = 2 * torch.randn(6, generator=random, dtype=torch.float64)
        written = derivative(scores.softmax(0))
        automatic = torch.autograd.functional.jacobian(lambda z: z.softmax(0), scores)
        steps = _STEP * torch.eye(6, dtype=torch.float64)
        finite = ((scores + steps).softmax(1) - (scores - steps).softmax(1)).T / (2 * _STEP)
        off = max(off, float((written - automatic).abs().max()))
        off_finite = max(off_finite, float((written - finite).abs().max()))
    records = [{"score": j + 1, "share": i + 1, "derivative": float(written[i, j])} for i in range(6) for j in range(6)]
    numbers = exact_values(difference_from_autograd=off, difference_from_finite_differences=off_finite)
    return Evidence(numbers, records, Figure("heat", "score", "share", "derivative"))


CLAIM = claim(measure, at_most("difference_from_autograd", 1e-12), at_most("difference_from_finite_differences", 1e-8))

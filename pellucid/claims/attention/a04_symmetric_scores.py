"""A4: with Q = K = X attention is mutual."""

import torch
from torch import Tensor

from pellucid.claims.activations import Activations
from pellucid.claims.claim import Setup, at_least, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import no_mask, torch_generator
from pellucid.layers.attention import attend

__all__ = ["CLAIM", "measure"]

_LENGTH, _D = 8, 32


def _seen(query: Tensor, key: Tensor) -> dict[str, Tensor]:
    activations = Activations()
    attend(query, key, key, no_mask(_LENGTH), activations)
    return {name: x[0, 0] for name, x in activations.items()}


def measure(setup: Setup, key_of: Tensor | None = None) -> Evidence:
    """Compare scores and weights with their transposes: of X with itself, and through W_Q and W_K.

    Args:
        key_of: maps X to keys, [32 32]; the identity by default.
    """
    random = torch_generator(setup.seed, "A4")
    x = torch.randn(1, 1, _LENGTH, _D, generator=random)
    w_q, w_k = torch.randn(2, _D, _D, generator=random) / _D**0.5
    own = _seen(x, x if key_of is None else x @ key_of)
    projected = _seen(x @ w_q, x @ w_k)
    records = [
        {"query": i + 1, "key": j + 1, "weight": float(own["weights"][i, j])}
        for i in range(_LENGTH)
        for j in range(_LENGTH)
    ]
    numbers = exact_values(
        asymmetry_of_scores=_asymmetry(own["scores"]),
        asymmetry_of_weights=_asymmetry(own["weights"]),
        asymmetry_of_scores_through_two_matrices=_asymmetry(projected["scores"]),
    )
    return Evidence(numbers, records, Figure("heat", "key", "query", "weight"))


def _asymmetry(matrix: Tensor) -> float:
    """Compute the distance of a matrix from its transpose off the diagonal, relative to its norm there."""
    off = matrix * (1 - torch.eye(len(matrix)))
    return float((off - off.T).norm() / off.norm())


CLAIM = claim(
    measure,
    at_most("asymmetry_of_scores", 1e-4),
    at_least("asymmetry_of_scores_through_two_matrices", 0.1),
    outside=(at_most("asymmetry_of_weights", 1e-4, fails_at=0.02),),
)

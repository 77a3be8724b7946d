"""K2: −∞ before the softmax gives 0 after it."""

from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.claims.activations import Activations
from pellucid.claims.claim import Setup, at_least, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import torch_generator
from pellucid.layers.attention import attend
from pellucid.layers.masks import causal

__all__ = ["CLAIM", "masked_before", "measure", "zeroed_after"]

Weigh = Callable[[Tensor, Tensor, Tensor], Tensor]
_LENGTH = 8


def masked_before(query: Tensor, key: Tensor, may_attend: Tensor) -> Tensor:
    """Compute the weights of Pellucid's attention."""
    activations = Activations()
    attend(query, key, key, may_attend, activations)
    return activations["weights"]


def zeroed_after(query: Tensor, key: Tensor, may_attend: Tensor) -> Tensor:
    """Compute the weights of all keys and set the forbidden ones to 0 afterwards."""
    return masked_before(query, key, torch.ones_like(may_attend)).masked_fill(~may_attend, 0.0)


def measure(setup: Setup, weigh: Weigh = masked_before) -> Evidence:
    """Measure forbidden weights and the sums of rows, and the sums when forbidden weights are zeroed afterwards."""
    q, k = 2 * torch.randn(2, 1, 4, _LENGTH, 16, generator=torch_generator(setup.seed, "K2"))
    mask = causal(_LENGTH)
    ways = {"masked before": weigh(q, k, mask), "zeroed after": zeroed_after(q, k, mask)}
    records = [
        {"row": row + 1, "sum": float(weights[0, 0, row].sum()), "way": name}
        for name, weights in ways.items()
        for row in range(_LENGTH)
    ]
    before, after = ways.values()
    numbers = exact_values(
        largest_forbidden_weight=float(before.masked_select(~mask).abs().max()),
        sum_off_one=float((before.sum(-1) - 1).abs().max()),
        sum_off_one_zeroed_after=float((after.sum(-1) - 1).abs().max()),
    )
    return Evidence(numbers, records, Figure("line", "row", "sum", "way"))


CLAIM = claim(
    measure,
    at_most("largest_forbidden_weight", 0.0),
    at_most("sum_off_one", 1e-5),
    at_least("sum_off_one_zeroed_after", 0.05),
)

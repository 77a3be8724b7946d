"""A2: the weights of a row are a distribution."""

from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.claims.activations import Activations
from pellucid.claims.claim import Setup, at_least, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import torch_generator
from pellucid.layers.attention import attend

__all__ = ["CLAIM", "measure"]

Attend = Callable[..., Tensor]
_LENGTH = 10


def measure(setup: Setup, attention: Attend = attend) -> Evidence:
    """Measure the weights of rows of which more and more is masked, up to the whole row."""
    random = torch_generator(setup.seed, "A2")
    q, k, v = 3 * torch.randn(3, 1, 2, _LENGTH, 16, generator=random)
    mask = torch.ones(_LENGTH, _LENGTH, dtype=torch.bool).tril(-1)[None, None]  # the first row may attend to nothing
    activations = Activations()
    mixed = attention(q, k, v, mask, activations)
    weights = activations["weights"]
    sums = weights.sum(-1)
    records = [
        {"allowed": row, "head": str(head), "sum": float(sums[0, head, row])}
        for head in range(2)
        for row in range(_LENGTH)
    ]
    return Evidence(
        exact_values(
            sum_off_one=float((sums[..., 1:] - 1).abs().max()),
            smallest_weight=float(weights.min()),
            not_a_number=int((~torch.isfinite(weights)).sum() + (~torch.isfinite(mixed)).sum()),
            sum_off_one_where_nothing_is_allowed=float((sums[..., 0] - 1).abs().max()),
            output_where_nothing_is_allowed=float(mixed[:, :, 0].abs().max()),
        ),
        records,
        Figure("line", "allowed", "sum", "head"),
    )


CLAIM = claim(
    measure,
    at_most("sum_off_one", 1e-5),
    at_least("smallest_weight", 0.0),
    at_most("not_a_number", 0),
    outside=(at_most("sum_off_one_where_nothing_is_allowed", 1e-5),),
)

"""A3: values are mixed dimension by dimension."""

from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.claims.claim import Setup, at_least, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import no_mask, torch_generator
from pellucid.layers.attention import attend

__all__ = ["CLAIM", "measure"]

Attend = Callable[..., Tensor]
_LENGTH, _D = 5, 6


def measure(setup: Setup, attention: Attend = attend) -> Evidence:
    """Differentiate the output with respect to the values; and mix two values by 0.8 and 0.2."""
    random = torch_generator(setup.seed, "A3")
    q, k, v = torch.randn(3, 1, 1, _LENGTH, _D, generator=random)
    jacobian = torch.autograd.functional.jacobian(lambda x: attention(q, k, x, no_mask(_LENGTH)), v)
    # [query d_head key d_head]
    derivative = jacobian[0, 0, :, :, 0, 0]
    own = torch.eye(_D, dtype=torch.bool)
    across = derivative.permute(0, 2, 1, 3)[..., ~own]
    along = derivative.permute(0, 2, 1, 3)[..., own]
    # Scores ln 0.8 and ln 0.2, by a key of one number.
    keys = torch.tensor([0.8, 0.2]).log().view(1, 1, 2, 1)
    values = torch.tensor([[1.0, 10.0, -2.0], [6.0, 0.0, 3.0]])
    mixed = attention(torch.ones(1, 1, 1, 1), keys, values[None, None, :, :1], torch.ones(1, 1, 1, 2, dtype=torch.bool))
    right = 0.8 * values[0, 0] + 0.2 * values[1, 0]
    size = derivative.abs().amax((0, 2))
    records = [
        {"value_dimension": i + 1, "output_dimension": j + 1, "derivative": float(size[j, i])}
        for j in range(_D)
        for i in range(_D)
    ]
    return Evidence(
        exact_values(
            derivative_across_dimensions=float(across.abs().max()),
            least_largest_derivative_along=float(along.abs().amax(0).min()),
            spread_along_dimensions=float((along.amax(-1) - along.amin(-1)).abs().max()),
            error_of_example=float((mixed - right).abs().max()),
        ),
        records,
        Figure("heat", "value_dimension", "output_dimension", "derivative"),
    )


CLAIM = claim(
    measure,
    at_most("derivative_across_dimensions", 0.0),
    at_least("least_largest_derivative_along", 1e-3),
    at_most("spread_along_dimensions", 1e-5),
    at_most("error_of_example", 1e-5),
)

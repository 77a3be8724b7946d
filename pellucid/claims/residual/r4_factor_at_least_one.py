"""R4: the factor is at least 1, so the gradient never vanishes."""

from typing import Any

import torch
from torch import Tensor, nn

from pellucid.claims.activations import Activations
from pellucid.claims.claim import Setup, at_least, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import random_ids, small_decoder, torch_generator
from pellucid.layers.block import PreNorm

__all__ = ["CLAIM", "measure"]

_D = 32


def block_jacobians(seed: int) -> dict[str, Tensor]:
    """Compute I + J_F of each block of an untrained network, for one token of ten, [32 32]."""
    model, ids, found = small_decoder(seed, n_layers=4), random_ids(seed, 1, 10), {}
    activations = Activations()
    with torch.no_grad():
        model.states(ids, activations)
    positions, mask = torch.arange(10), torch.ones(1, 1, 10, 10, dtype=torch.bool).tril()
    for number, block in enumerate(model.blocks()):
        entered = activations[f"decoder.{number}.residual.input"]

        def last(x: Tensor, block: nn.Module = block, entered: Tensor = entered) -> Tensor:
            out: Tensor = block(torch.cat((entered[:, :-1], x[None, None]), 1), mask, positions)[0, -1]
            return out

        found[f"block {number + 1}"] = torch.autograd.functional.jacobian(last, entered[0, -1])
    return found


def _cancelling_factor() -> float:
    """Compute the factor of a block whose part is x ↦ −x, which cancels its input."""
    block, x = PreNorm(nn.Identity(), 0.0), torch.ones(1, 1, 1)
    return float(torch.autograd.functional.jacobian(lambda z: block(z, torch.neg), x))


def measure(setup: Setup, factors: dict[str, Tensor] | None = None) -> Evidence:
    """Compute the singular values of I + J_F of real blocks, and of a block that cancels its input."""
    matrices = factors if factors is not None else block_jacobians(setup.seed)
    records: list[dict[str, Any]] = [
        {"block": name, "direction": n + 1, "factor": float(value)}
        for name, matrix in matrices.items()
        for n, value in enumerate(torch.linalg.svdvals(matrix))
    ]
    values = [record["factor"] for record in records]
    vectors = torch.randn(500, _D, generator=torch_generator(setup.seed, "R4"))
    lengths = [float(((vectors @ matrix).norm(dim=1) / vectors.norm(dim=1)).mean()) for matrix in matrices.values()]
    numbers = exact_values(
        least_factor=min(values),
        share_of_factors_below_one=sum(value < 1 for value in values) / len(values),
        mean_factor_of_a_random_gradient=sum(lengths) / len(lengths),
        factor_where_the_part_is_minus_x=_cancelling_factor(),
    )
    return Evidence(numbers, records, Figure("line", "direction", "factor", "block"))


CLAIM = claim(measure, at_least("least_factor", 1.0, fails_at=0.99))

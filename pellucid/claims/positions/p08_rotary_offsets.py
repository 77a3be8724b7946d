"""P8: with rotary positions, q·k depends only on the offset."""

from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.claims.claim import Setup, at_least, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import torch_generator
from pellucid.layers.positions import Rotary, sinusoids
from pellucid.layers.rotary import rotary_frequencies

__all__ = ["CLAIM", "measure"]

_D, _LENGTH = 64, 200
Place = Callable[[Tensor, Tensor], Tensor]


def measure(setup: Setup, rotate: Place | None = None) -> Evidence:
    """Put one query and one key at all positions of a text, and compare products along the diagonals."""
    rotate = rotate or Rotary(rotary_frequencies(_D, 10_000.0)).rotate
    random = torch_generator(setup.seed, "P8")
    q, k = torch.randn(2, _D, generator=random)
    positions = torch.arange(_LENGTH)
    many = (1, 1, _LENGTH, _D)
    rotary = rotate(q.expand(many), positions)[0, 0] @ rotate(k.expand(many), positions)[0, 0].T
    codes = sinusoids(positions, _D).float()
    added = (q + codes) @ (k + codes).T
    scale = float(q.norm() * k.norm())
    records = [
        {"position": int(p), "product": float(product[p + 5, p]), "scheme": name}
        for name, product in (("rotary", rotary), ("added sinusoids", added))
        for p in range(0, _LENGTH - 5, 5)
    ]
    numbers = exact_values(
        spread_along_diagonals=_spread(rotary) / scale,
        change_across_diagonals=float((rotary[0] - rotary[0, 0]).abs().max()) / scale,
        spread_along_diagonals_of_added_encodings=_spread(added) / scale,
    )
    return Evidence(numbers, records, Figure("line", "position", "product", "scheme"))


def _spread(products: Tensor) -> float:
    """Compute the largest difference between two products with the same offset."""
    spreads = [products.diagonal(offset) for offset in range(1 - _LENGTH, _LENGTH)]
    return max(float(line.max() - line.min()) for line in spreads)


CLAIM = claim(
    measure, at_most("spread_along_diagonals", 1e-4, fails_at=1e-3), at_least("change_across_diagonals", 0.05)
)

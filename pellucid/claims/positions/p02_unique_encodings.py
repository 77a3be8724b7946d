"""P2: every position has its own encoding."""

import torch

from pellucid.claims.claim import Setup, at_least, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.positions.p01_sinusoid_formula import Codes
from pellucid.layers.positions import sinusoids

__all__ = ["CLAIM", "measure"]

_N, _D, _BLOCK = 10_000, 64, 1_000


def measure(setup: Setup, codes: Codes = sinusoids) -> Evidence:
    """Find the two of 10,000 positions whose encodings are nearest to each other."""
    table = codes(torch.arange(_N), _D)
    nearest, pair = float("inf"), (0, 0)
    for start in range(0, _N, _BLOCK):
        products = table[start : start + _BLOCK] @ table[start:].T
        # Squared distances, from the norms and the products.
        squared = table[start : start + _BLOCK].square().sum(1)[:, None] + table[start:].square().sum(1) - 2 * products
        squared.diagonal().fill_(float("inf"))
        flat = int(squared.argmin())
        least = float(squared.flatten()[flat])
        if least < nearest:
            nearest, pair = least, (start + flat // squared.shape[1], start + flat % squared.shape[1])
    offsets = torch.unique(torch.logspace(0, 3.99, 120).long())
    records = [{"offset": int(k), "distance": float((table[k] - table[0]).norm())} for k in offsets]
    numbers = exact_values(
        smallest_distance=max(nearest, 0.0) ** 0.5,
        first_of_nearest=pair[0],
        second_of_nearest=pair[1],
        norm_of_an_encoding=(_D / 2) ** 0.5,
    )
    return Evidence(numbers, records, Figure("line", "offset", "distance", log_x=True))


CLAIM = claim(measure, at_least("smallest_distance", 0.01, fails_at=1e-5))

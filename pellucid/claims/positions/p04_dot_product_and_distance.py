"""P4: the dot product of two encodings depends on their relative position."""

import torch

from pellucid.claims.claim import Setup, at_least, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.positions.p01_sinusoid_formula import Codes
from pellucid.claims.small_models import torch_generator
from pellucid.layers.positions import sinusoids

__all__ = ["CLAIM", "measure"]

_D = 64
_ANCHORS = (100, 500, 2_000, 9_000)


def measure(setup: Setup, codes: Codes = sinusoids) -> Evidence:
    """Multiply encodings k apart at several positions, to the right and to the left; then through W_Q and W_K."""
    offsets = torch.arange(-60, 61)
    plain = torch.stack([codes(p + offsets, _D) @ codes(torch.tensor([p]), _D)[0] for p in _ANCHORS])
    spread = float((plain.amax(0) - plain.amin(0)).max())
    random = torch_generator(setup.seed, "P4")
    w_q, w_k = torch.randn(2, _D, _D, generator=random, dtype=torch.float64) / _D**0.5
    projected = (codes(_ANCHORS[0] + offsets, _D) @ w_k) @ (w_q.T @ codes(torch.tensor([_ANCHORS[0]]), _D)[0])
    records = [
        {"offset": int(k), "product": float(value), "of": name}
        for name, values in (("encodings", plain[0]), ("through W_Q and W_K", projected))
        for k, value in zip(offsets, values, strict=True)
    ]
    numbers = exact_values(
        spread_over_positions=spread,
        least_to_greatest_over_offsets=float(plain[0].max() - plain[0].min()),
        left_against_right=float((plain[0] - plain[0].flip(0)).abs().max()),
        left_against_right_through_matrices=float((projected - projected.flip(0)).abs().max()),
    )
    return Evidence(numbers, records, Figure("line", "offset", "product", "of"))


CLAIM = claim(
    measure,
    at_most("spread_over_positions", 1e-9),
    at_least("least_to_greatest_over_offsets", 1.0),
    outside=(at_least("left_against_right", 1e-3, fails_at=1e-9),),
)

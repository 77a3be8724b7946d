"""S4: the usual example of a softmax of large scores."""

from collections.abc import Callable, Sequence

import torch

from pellucid.claims.claim import Setup, at_least, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values

__all__ = ["CLAIM", "measure", "softmax_float64"]

_SCORES = (100.0, -20.0, 10.0, -50.0)
_STATED = (0.9999, 0.0, 0.0001, 0.0)


def softmax_float64(scores: Sequence[float]) -> list[float]:
    """Compute the softmax in float64."""
    shares: list[float] = torch.tensor(scores, dtype=torch.float64).softmax(0).tolist()
    return shares


def measure(setup: Setup, softmax: Callable[[Sequence[float]], list[float]] = softmax_float64) -> Evidence:
    """Compute the example in float64 and in float32."""
    shares = softmax(_SCORES)
    single = torch.tensor(_SCORES).softmax(0).tolist()
    records = [
        {"entry": f"{entry + 1}: {score:g}", "which": which, "share": share}
        for which, values in (("stated", _STATED), ("float64", shares))
        for entry, (score, share) in enumerate(zip(_SCORES, values, strict=True))
    ]
    numbers = exact_values(first_entry_below_one=1 - shares[0], third_entry=shares[2], third_entry_float32=single[2])
    return Evidence(numbers, records, Figure("bar", "entry", "share", "which"))


CLAIM = claim(measure, at_most("first_entry_below_one", 0.00015), at_least("third_entry", 0.00005))

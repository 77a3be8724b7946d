"""R1: a factor to the power of a hundred layers."""

import torch

from pellucid.claims.claim import Setup, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values

__all__ = ["CLAIM", "measure"]

_STATED = {0.9: 0.000026, 1.1: 13_780.0}


def measure(setup: Setup, layers: int = 100) -> Evidence:
    """Backpropagate through layers that each multiply by a factor, and compare with the usual figures."""
    records, arrived, off = [], {}, {}
    for factor, stated in _STATED.items():
        x = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
        y = x
        for layer in range(1, layers + 1):
            y = y * factor
            if layer % 5 == 0:
                (gradient,) = torch.autograd.grad(y, x, retain_graph=True)
                records.append({"layers": layer, "factor": str(factor), "gradient": float(gradient)})
        arrived[factor] = float(gradient)
        off[factor] = abs(arrived[factor] - stated) / stated
    numbers = exact_values(
        shrinking=arrived[0.9], growing=arrived[1.1],
        relative_error_of_shrinking=off[0.9], relative_error_of_growing=off[1.1],
    )  # fmt: skip
    return Evidence(numbers, records, Figure("line", "layers", "gradient", "factor", log_y=True))


CLAIM = claim(measure, at_most("relative_error_of_shrinking", 0.03), at_most("relative_error_of_growing", 0.03))

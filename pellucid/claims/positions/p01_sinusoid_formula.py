"""P1: the formula of sinusoidal encodings."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.claims.claim import Setup, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.layers.positions import sinusoids

__all__ = ["CLAIM", "Codes", "measure"]

Codes = Callable[[Tensor, int], Tensor]
_D = 64
_POSITIONS = (0, 1, 2, 3, 10, 100, 1_000, 9_999)


def measure(setup: Setup, codes: Codes = sinusoids) -> Evidence:
    """Compare Pellucid's encodings with the formula in plain Python, number by number."""
    table = codes(torch.tensor(_POSITIONS), _D)
    largest = 0.0
    for row, position in enumerate(_POSITIONS):
        for i in range(_D // 2):
            angle = position / 10_000 ** (2 * i / _D)
            for dimension, right in ((2 * i, math.sin(angle)), (2 * i + 1, math.cos(angle))):
                largest = max(largest, abs(float(table[row, dimension]) - right))
    shown = codes(torch.arange(40), _D)
    records = [
        {"position": position, "dimension": dimension, "encoding": float(shown[position, dimension])}
        for position in range(40)
        for dimension in range(0, _D, 2)
    ]
    return Evidence(
        exact_values(largest_difference=largest), records, Figure("heat", "dimension", "position", "encoding")
    )


CLAIM = claim(measure, at_most("largest_difference", 1e-9))

"""P3: moving by k is one fixed rotation per frequency."""

import torch
from torch import Tensor

from pellucid.claims.claim import Setup, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.positions.p01_sinusoid_formula import Codes
from pellucid.layers.positions import sinusoids

__all__ = ["CLAIM", "measure"]

_D = 64
_POSITIONS = (0, 1, 7, 100, 1_000, 10_000, 100_000)
_STEPS = (1, 2, 5, 17, 100)


def _rotation(k: int) -> Tensor:
    """Build M_k, [D D]: a rotation by ω_i k in the plane of the i-th sine and cosine."""
    angles = k * 10_000.0 ** (-torch.arange(0, _D, 2, dtype=torch.float64) / _D)
    planes = torch.stack((angles.cos(), angles.sin(), -angles.sin(), angles.cos()), -1).view(-1, 2, 2)
    rotation: Tensor = torch.block_diag(*planes)
    return rotation


def measure(setup: Setup, codes: Codes = sinusoids) -> Evidence:
    """Multiply encodings by M_k and compare with the encodings k positions later, in float64 and float32."""
    records, worst, worst_32, determinants = [], 0.0, 0.0, 0.0
    for k in _STEPS:
        rotation = _rotation(k)
        determinants = max(determinants, abs(float(torch.linalg.det(rotation)) - 1))
        for position in _POSITIONS:
            here, there = codes(torch.tensor([position, position + k]), _D)
            error = float((rotation @ here - there).abs().max())
            single = float((_in_float32(position, k, rotation) - there).abs().max())
            worst, worst_32 = max(worst, error), max(worst_32, single)
            if k == 1 and position:
                records += [
                    {"position": position, "precision": "float64", "error": max(error, 1e-18)},
                    {"position": position, "precision": "float32", "error": max(single, 1e-18)},
                ]
    numbers = exact_values(largest_error=worst, determinant_off_one=determinants, largest_error_float32=worst_32)
    return Evidence(numbers, records, Figure("line", "position", "error", "precision", log_x=True, log_y=True))


def _in_float32(position: int, k: int, rotation: Tensor) -> Tensor:
    """Rotate an encoding whose angles were computed in float32."""
    frequencies = (10_000.0 ** (-torch.arange(0, _D, 2, dtype=torch.float64) / _D)).float()
    angles = torch.tensor(float(position)) * frequencies
    return (rotation.float() @ torch.stack((angles.sin(), angles.cos()), -1).flatten()).double()


CLAIM = claim(measure, at_most("largest_error", 1e-9), at_most("determinant_off_one", 1e-9))

"""M4: only rotation and stretching happen."""

from collections.abc import Callable
from typing import NamedTuple

import numpy

from pellucid.claims.claim import Setup, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import small_decoder

__all__ = ["CLAIM", "Parts", "measure"]


class Parts(NamedTuple):
    """A matrix decomposed into left · diag(singular_values) · right."""

    left: numpy.ndarray
    singular_values: numpy.ndarray
    right: numpy.ndarray


def measure(
    setup: Setup, decompose: Callable[[numpy.ndarray], Parts] = lambda matrix: Parts(*numpy.linalg.svd(matrix))
) -> Evidence:
    """Decompose a shear and the square matrices of a model, multiply the factors, and count reflections."""
    matrices = {"shear": numpy.array([[1.0, 1.0], [0.0, 1.0]])}
    for number, block in enumerate(small_decoder(setup.seed, n_layers=6).double().blocks()):
        for name, part in {"W_Q": "query", "W_K": "key", "W_V": "value", "W_O": "output"}.items():
            matrices[f"{name} {number}"] = getattr(block.self_attention, part).weight.detach().numpy().T
    records, error, deviation, reflections = [], 0.0, 0.0, 0
    for name, matrix in matrices.items():
        left, singular_values, right = decompose(matrix)
        error = max(error, float(numpy.abs(left @ numpy.diag(singular_values) @ right - matrix).max()))
        for factor in (left, right):
            deviation = max(deviation, float(numpy.abs(factor @ factor.T - numpy.eye(len(factor))).max()))
        # One of the two orthogonal matrices can always be made a rotation; the determinant decides about the other.
        reflection = bool(numpy.linalg.det(matrix) < 0)
        reflections += reflection
        largest, smallest = float(singular_values[0]), float(singular_values[-1])
        kind = "with a reflection" if reflection else "rotations only"
        records.append({"matrix": name, "largest": largest, "smallest": smallest, "kind": kind})
    numbers = exact_values(
        error_of_product=error,
        distance_from_orthogonal=deviation,
        share_needing_a_reflection=reflections / len(matrices),
    )
    return Evidence(numbers, records, Figure("point", "largest", "smallest", "kind"))


CLAIM = claim(
    measure,
    at_most("error_of_product", 1e-10),
    at_most("distance_from_orthogonal", 1e-10),
    outside=(at_most("share_needing_a_reflection", 0.0),),
)

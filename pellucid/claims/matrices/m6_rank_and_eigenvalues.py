"""M6: rank and eigenvalues tell what a map does."""

import numpy

from pellucid.claims.claim import Effort, Setup, at_most, claim
from pellucid.claims.demo_text import demo_vectors
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.randomness import generator

__all__ = ["CLAIM", "measure", "normal_matrices"]

_SHEAR = numpy.array([[1.0, 1.0], [0.0, 1.0]])


def normal_matrices(seed: int) -> list[numpy.ndarray]:
    """Draw matrices that commute with their transposes: symmetric ones and rotations, some of low rank."""
    draw, found = generator(seed, "M6"), []
    for rank in (2, 5, 12):
        columns = numpy.linalg.qr(draw.standard_normal((12, 12)))[0]
        found.append((columns[:, :rank] * draw.uniform(-3, 3, rank)) @ columns[:, :rank].T)
        found.append(columns)
    return found


def measure(setup: Setup, matrices: list[numpy.ndarray] | None = None, w_in: numpy.ndarray | None = None) -> Evidence:
    """Compare eigenvalues with singular values and rank with the image's dimension; decompose an embedding."""
    if matrices is None:
        matrices = normal_matrices(setup.seed)
    if w_in is None:
        w_in = demo_vectors("zh", setup.size, setup.seed).input_vectors
    apart, off = 0.0, 0
    for matrix in matrices:
        eigenvalues = numpy.sort(numpy.abs(numpy.linalg.eigvals(matrix)))
        apart = max(apart, float(numpy.abs(eigenvalues - numpy.sort(numpy.linalg.svd(matrix)[1])).max()))
        # The image: as many of its vectors are independent as elimination finds pivots among images of a basis.
        off += int(abs(_pivots(matrix) - numpy.linalg.matrix_rank(matrix, tol=1e-9)))
    shear = numpy.abs(
        numpy.sort(numpy.abs(numpy.linalg.eigvals(_SHEAR))) - numpy.sort(numpy.linalg.svd(_SHEAR)[1])
    ).max()
    stretches = numpy.linalg.svd(w_in.astype(float), compute_uv=False)
    shares = stretches / stretches.sum()
    effective = float(numpy.exp(-(shares * numpy.log(shares)).sum()))
    records = [{"direction": n + 1, "singular_value": float(value)} for n, value in enumerate(stretches)]
    numbers = exact_values(
        eigenvalues_against_singular_values_of_normal_maps=apart,
        eigenvalues_against_singular_values_of_a_shear=float(shear),
        rank_against_dimension_of_image=off,
        dimensions_of_w_in=len(stretches),
        effective_rank_of_w_in=effective,
    )
    return Evidence(numbers, records, Figure("line", "direction", "singular_value"))


def _pivots(matrix: numpy.ndarray) -> int:
    rows, found = matrix.astype(float).copy(), 0
    for column in range(rows.shape[1]):
        pivot = found + int(numpy.abs(rows[found:, column]).argmax()) if found < len(rows) else 0
        if found == len(rows) or abs(rows[pivot, column]) < 1e-9:
            continue
        rows[[found, pivot]] = rows[[pivot, found]]
        rows[found + 1 :] -= numpy.outer(rows[found + 1 :, column] / rows[found, column], rows[found])
        found += 1
    return found


CLAIM = claim(
    measure,
    at_most("eigenvalues_against_singular_values_of_normal_maps", 1e-9),
    at_most("rank_against_dimension_of_image", 0),
    outside=(at_most("eigenvalues_against_singular_values_of_a_shear", 1e-9),),
    effort=Effort(Setup(size=1_500), Setup(size=8_000)),
)

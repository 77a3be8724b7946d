"""M3: a matrix map is one-to-one and loses nothing."""

import torch
from torch import Tensor

from pellucid.claims.claim import Setup, at_least, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import torch_generator
from pellucid.layers.embeddings import TokenEmbedding

__all__ = ["CLAIM", "measure"]


def measure(setup: Setup, wide: Tensor | None = None) -> Evidence:
    """Find the smallest singular value of a map to at least as many dimensions, and of an embedding.

    Args:
        wide: a matrix with at least as many columns as rows; random by default.
    """
    random = torch_generator(setup.seed, "M3")
    full = torch.randn(32, 48, generator=random, dtype=torch.float64) if wide is None else wide
    embedding = TokenEmbedding(200, 16, 1.0).double()
    with torch.no_grad():
        embedding.weight.copy_(torch.randn(200, 16, generator=random, dtype=torch.float64))
        rows = embedding.weight.detach()
    records, least = [], {}
    for name, matrix in (("32 → 48", full), ("V = 200 → D = 16", rows)):
        singular_values = _singular_values(matrix)
        least[name] = singular_values[-1] / singular_values[0]
        records += [
            {"map": name, "direction": n + 1, "singular_value": value} for n, value in enumerate(singular_values)
        ]
    # A vector in the kernel: a mixture of words, none of which is in it.
    kernel = torch.linalg.svd(rows.T).Vh[-1]
    distances = torch.pdist(rows)
    return Evidence(
        exact_values(
            least_singular_value_of_full_rank=least["32 → 48"],
            least_singular_value_of_embedding=least["V = 200 → D = 16"],
            image_of_kernel_vector=float((kernel @ rows).norm()),
            least_distance_of_two_words=float(distances.min()),
        ),
        records,
        Figure("line", "direction", "singular_value", "map"),
    )


def _singular_values(matrix: Tensor) -> list[float]:
    """List the singular values by input direction, including those that vanish."""
    values: list[float] = torch.linalg.svdvals(matrix).tolist()
    return values + [0.0] * (matrix.shape[0] - len(values))


CLAIM = claim(
    measure,
    at_least("least_singular_value_of_full_rank", 1e-6),
    outside=(at_least("least_singular_value_of_embedding", 1e-6),),
)

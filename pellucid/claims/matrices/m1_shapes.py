"""M1: an m × n matrix maps each vector of m numbers to n numbers."""

from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.claims.claim import Setup, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import torch_generator
from pellucid.layers.attention import Attention, HeadConfig
from pellucid.layers.positions import AttentionPositions
from pellucid.randomness import generator

__all__ = ["CLAIM", "measure"]

Map = Callable[[Tensor, Tensor], Tensor]


def _by_projection(vectors: Tensor, matrix: Tensor) -> Tensor:
    """Map vectors with the query projection of an attention head."""
    attention = Attention(len(matrix), HeadConfig(1, 1, matrix.shape[1], bias=False), False, 0.0, AttentionPositions())
    attention.query.weight.data = matrix.T.contiguous()
    mapped: Tensor = attention.query(vectors).detach()
    return mapped


def measure(setup: Setup, mapped: Map = _by_projection, trials: int = 30) -> Evidence:
    """Map sets of vectors of random sizes; count wrong shapes, and change one vector of each set."""
    draw, random = generator(setup.seed, "M1"), torch_generator(setup.seed, "M1")
    wrong, leaked, records = 0, 0.0, []
    for _ in range(trials):
        k, m, n = (int(size) for size in draw.integers(2, 40, 3))
        vectors, matrix = torch.randn(k, m, generator=random), torch.randn(m, n, generator=random)
        out = mapped(vectors, matrix)
        wrong += tuple(out.shape) != (k, n)
        changed = vectors.clone()
        changed[0] += 1
        if out.shape[0] > 1:
            # The same rows of a product of the same shape: only the first row may differ, bit for bit.
            leaked = max(leaked, float((mapped(changed, matrix) - out)[1:].abs().max()))
        records.append({"k": k, "m": m, "n": n, "rows": out.shape[0], "columns": out.shape[-1]})
    return Evidence(
        exact_values(wrong_shapes=wrong, change_of_other_vectors=leaked), records, Figure("point", "n", "columns")
    )


CLAIM = claim(measure, at_most("wrong_shapes", 0), at_most("change_of_other_vectors", 0.0))

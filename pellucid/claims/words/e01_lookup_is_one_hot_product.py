"""E1: looking up a row is a product with a one-hot vector."""

from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.claims.claim import Setup, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import torch_generator
from pellucid.demo.micro_world import initial_matrices
from pellucid.layers.embeddings import TokenEmbedding

__all__ = ["CLAIM", "measure"]

LookUp = Callable[[TokenEmbedding, Tensor], Tensor]


def measure(setup: Setup, look_up: LookUp = lambda embedding, ids: embedding(ids)) -> Evidence:
    """Compare lookups with matrix products, for the micro world and for a thousand words."""
    micro = torch.from_numpy(initial_matrices(setup.seed)[0])
    large = torch.randn(1000, 64, generator=torch_generator(setup.seed, "E1"))
    records, largest = [], 0.0
    for name, matrix in (("猫 吃 鱼", micro), ("V = 1000", large)):
        vocab_size, d = matrix.shape
        embedding = TokenEmbedding(vocab_size, d, 1.0).to(matrix.dtype)
        with torch.no_grad():
            embedding.weight.copy_(matrix)
            looked_up = look_up(embedding, torch.arange(vocab_size)[None])[0]
        difference = float((looked_up - torch.eye(vocab_size, dtype=matrix.dtype) @ matrix).abs().max())
        records.append({"world": name, "words": vocab_size, "d": d, "largest_difference": difference})
        largest = max(largest, difference)
    return Evidence(exact_values(largest_difference=largest), records, Figure("bar", "world", "largest_difference"))


CLAIM = claim(measure, at_most("largest_difference", 0.0))

"""From token ids to vectors."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

__all__ = ["TokenEmbedding"]


class TokenEmbedding(nn.Module):
    """A row of numbers for each token: one-hot(id) · weight · scale.

    Args:
        scale: what rows are multiplied by when they enter the residual stream; √d_model in the paper.

    Source:
        Vaswani et al. 2017, §3.4.
    """

    def __init__(self, vocab_size: int, d_model: int, scale: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model))
        nn.init.normal_(self.weight, std=d_model**-0.5)
        self.scale = scale

    def forward(self, ids: Int[Tensor, "batch seq"]) -> Float[Tensor, "batch seq d_model"]:
        """Look the rows up."""
        return F.embedding(ids, self.weight) * self.scale

    def logits(self, states: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch vocab_size"]:
        """Return the product of each state with every token's row, unscaled."""
        return F.linear(states, self.weight)

"""From token ids to vectors."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

__all__ = ["TokenEmbedding"]


class TokenEmbedding(nn.Module):
    """A vector for each token: one-hot(id) · weight · scale.

    The scale applies when vectors enter the residual stream; it is √d_model in the paper.

    Source:
        Vaswani et al. 2017, §3.4.
    """

    def __init__(self, vocab_size: int, d_model: int, scale: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model))
        nn.init.normal_(self.weight, std=d_model**-0.5)
        self.scale = scale

    def init_weights(self, random: torch.Generator) -> None:
        """Draw vectors of norm about 1."""
        nn.init.normal_(self.weight, std=self.weight.shape[1] ** -0.5, generator=random)

    def forward(self, ids: Int[Tensor, "batch seq"]) -> Float[Tensor, "batch seq d_model"]:
        """Look up the vectors of the tokens."""
        return F.embedding(ids, self.weight) * self.scale

    def logits(self, states: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch vocab_size"]:
        """Compute the product of each state with the vector of every token, unscaled."""
        return F.linear(states, self.weight)

"""Where a token stands: codes added to embeddings, and biases added to scores.

Codes are asked for with `count`, the furthest position and one: to read it from the positions would wait for the device
that they are on.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from pellucid.errors import UserError

__all__ = ["AlibiBias", "LearnedEncoding", "NoEncoding", "SinusoidalEncoding", "no_bias", "sinusoids"]


def sinusoids(positions: Int[Tensor, " seq"], d_model: int) -> Float[Tensor, "seq d_model"]:
    """Return the sinusoidal codes of some positions, computed in float64.

    PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(pos / 10000^(2i/d_model)).

    Source:
        Vaswani et al. 2017, §3.5.
    """
    rotary_frequencies = 10_000.0 ** (
        -torch.arange(0, d_model, 2, dtype=torch.float64, device=positions.device) / d_model
    )
    angles = positions[:, None].double() * rotary_frequencies
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)


class SinusoidalEncoding(nn.Module):
    """Codes of sines and cosines, for any position."""

    table: Tensor

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.d_model = d_model
        self.register_buffer("table", sinusoids(torch.arange(256), d_model).float(), persistent=False)

    def forward(self, positions: Int[Tensor, "*batch seq"], count: int) -> Float[Tensor, "*batch seq d_model"]:
        """Return the code of each position, all of them below `count`."""
        if count > len(self.table):
            longer = torch.arange(max(count, 2 * len(self.table)))
            self.table = sinusoids(longer, self.d_model).to(self.table)
        return self.table[positions]


class LearnedEncoding(nn.Module):
    """One trained vector a position, as in BERT and GPT-2; there is none past the last.

    Raises:
        UserError: for a position that has no code.
    """

    def __init__(self, d_model: int, max_positions: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(max_positions, d_model))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, positions: Int[Tensor, "*batch seq"], count: int) -> Float[Tensor, "*batch seq d_model"]:
        """Return the code of each position, all of them below `count`."""
        if count > len(self.weight):
            raise UserError(
                f"the text has {count} tokens, the model has learned encodings for {len(self.weight)} positions only",
                where="model.max_positions",
                hint="Shorten the text, or train with a larger model.max_positions or another model.positions.",
            )
        return self.weight[positions]


class NoEncoding(nn.Module):
    """Nothing is added to the embeddings."""

    def forward(self, positions: Int[Tensor, "*batch seq"], count: int) -> Float[Tensor, ""]:
        """Return 0, which added to anything leaves it as it is."""
        return torch.zeros((), device=positions.device)


def no_bias(query_positions: Int[Tensor, "*batch query"], key_positions: Int[Tensor, "*batch key"]) -> None:
    """Add nothing to the scores."""


class AlibiBias(nn.Module):
    """Attention with linear biases: head h adds −slope_h · |query position − key position| to its scores.

    Slopes are 2^(−8(h+1)/n_heads). Under a causal mask only keys before the query count, so that the usual one-sided
    slope is left; without one the penalty is the same to both sides.

    Source:
        Press et al. 2022 (ALiBi), §3; its geometric slopes for a power of two of heads, here for any number.
    """

    slopes: Tensor

    def __init__(self, n_heads: int) -> None:
        super().__init__()
        slopes = 2.0 ** (-8.0 * torch.arange(1, n_heads + 1, dtype=torch.float64) / n_heads)
        self.register_buffer("slopes", slopes.float(), persistent=False)

    def forward(
        self, query_positions: Int[Tensor, "*batch query"], key_positions: Int[Tensor, "*batch key"]
    ) -> Float[Tensor, "*batch heads query key"]:
        """Return what each head adds to its scores, for the whole batch or for each sequence."""
        distance = (query_positions[..., :, None] - key_positions[..., None, :]).abs()
        return -self.slopes[:, None, None] * distance.unsqueeze(-3)

"""Position schemes: how the positions of tokens enter a model.

A scheme acts in two places. A `PositionEncoding` is added to the embeddings; `AttentionPositions` rotate queries and
keys, or add a bias to their scores. Most schemes use one of the two. `build_position_encoding` and
`build_attention_positions` choose them by the scheme's name; `table` returns a scheme's values for display.
"""

from typing import NamedTuple, assert_never

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from pellucid.errors import UserError
from pellucid.layers.position_scheme import PositionScheme
from pellucid.layers.rotary import rotate_pairs

__all__ = [
    "AlibiBias",
    "AttentionPositions",
    "LearnedEncoding",
    "PositionEncoding",
    "PositionTable",
    "Rotary",
    "SinusoidalEncoding",
    "build_attention_positions",
    "build_position_encoding",
    "sinusoids",
]

_TABLE_SIZE = 256  # positions for which cosines and sines are computed in advance


class PositionTable(NamedTuple):
    """The values by which a scheme tells positions apart, for display.

    Attributes:
        name: such as `rotary_angles`.
        axes: names of the axes, such as `position` and `pair`.
        unit: of the values, such as `radians`.
        caption: a sentence about the scheme.
        values: float64.
    """

    name: str
    axes: tuple[str, ...]
    unit: str
    meaning: str
    caption: str
    values: Tensor


def sinusoids(positions: Int[Tensor, " seq"], d_model: int) -> Float[Tensor, "seq d_model"]:
    """Compute the sinusoidal encodings of the given positions in float64.

    PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(pos / 10000^(2i/d_model)).

    Source:
        Vaswani et al. 2017, §3.5.
    """
    frequencies = 10_000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64, device=positions.device) / d_model)
    angles = positions[:, None].double() * frequencies
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)


class PositionEncoding(nn.Module):
    """Adds nothing to the embeddings; subclasses add a vector for each position.

    `count`, an upper bound of the positions, is passed in, because reading it from the tensor would synchronise with
    the device.
    """

    kind = "none"

    def forward(self, positions: Int[Tensor, "*batch seq"], count: int) -> Float[Tensor, "*axes"]:
        """Look up the encoding of each position, all of them below `count`; a single 0 if there is none."""
        return torch.zeros((), device=positions.device)

    def init_weights(self, random: torch.Generator) -> None:
        """Initialise the weights at random, if the scheme has any."""

    def table(self, count: int) -> PositionTable | None:
        """Return the encodings of the first `count` positions, as they are added; None if there are none."""
        if self.kind == "none":
            return None
        device = next(iter((*self.parameters(), *self.buffers()))).device
        values = self(torch.arange(count, device=device), count).detach().double().cpu()
        caption = (
            "The positional encodings that are added to the embeddings: a row per position, a column per dimension."
        )
        meaning = f"{self.kind} positional encodings"
        return PositionTable("encodings", ("position", "d_model"), "–", meaning, caption, values)


class SinusoidalEncoding(PositionEncoding):
    """Sines and cosines of the position, for any number of positions."""

    kind = "sinusoidal"
    encodings: Tensor

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.d_model = d_model
        self.register_buffer("encodings", sinusoids(torch.arange(_TABLE_SIZE), d_model).float(), persistent=False)

    def forward(self, positions: Int[Tensor, "*batch seq"], count: int) -> Float[Tensor, "*axes"]:
        """Look up the encoding of each position."""
        if count > len(self.encodings):
            more = torch.arange(max(count, 2 * len(self.encodings)))
            self.encodings = sinusoids(more, self.d_model).to(self.encodings)
        return self.encodings[positions]


class LearnedEncoding(PositionEncoding):
    """A trained vector for each position, as in BERT and GPT-2, up to a maximum position.

    Raises:
        UserError: for a position beyond it.
    """

    kind = "learned"

    def __init__(self, d_model: int, learned_positions: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(learned_positions, d_model))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, positions: Int[Tensor, "*batch seq"], count: int) -> Float[Tensor, "*axes"]:
        """Look up the vector of each position."""
        if count > len(self.weight):
            raise UserError(
                f"the text has {count} tokens, but the model has only {len(self.weight)} learned positions",
                where="model.positions",
                hint="Shorten the text, or train with more learned positions or another model.positions.",
            )
        return self.weight[positions]

    def init_weights(self, random: torch.Generator) -> None:
        """Initialise the vectors with standard deviation 0.02, as in BERT and GPT-2."""
        nn.init.normal_(self.weight, std=0.02, generator=random)


class AttentionPositions(nn.Module):
    """Tells attention nothing about positions; subclasses rotate queries and keys, or add a bias to their scores."""

    kind = "none"

    def rotate(
        self, x: Float[Tensor, "batch heads seq d_head"], positions: Int[Tensor, "*batch seq"]
    ) -> Float[Tensor, "batch heads seq d_head"]:
        """Rotate queries or keys by their positions, which are shared by the batch or given per sequence."""
        return x

    def unrotate(
        self, x: Float[Tensor, "batch heads seq d_head"], positions: Int[Tensor, "*batch seq"]
    ) -> Float[Tensor, "batch heads seq d_head"]:
        """Undo `rotate`."""
        return x

    def score_bias(
        self, query_positions: Int[Tensor, "*batch query"], key_positions: Int[Tensor, "*batch key"]
    ) -> Float[Tensor, "*batch heads query key"] | None:
        """Compute the bias of each head's scores, shared by the batch or per sequence; None if there is none."""
        return None

    def init_weights(self, random: torch.Generator) -> None:
        """Initialise the weights at random, if the scheme has any."""

    def table(self, count: int) -> PositionTable | None:
        """Return the scheme's values for the first `count` positions; None if it has none."""
        return None


class Rotary(AttentionPositions):
    """Rotates each pair of coordinates (i, i + d_head/2) by position · frequency_i radians.

    ⟨rotate(q, m), rotate(k, n)⟩ depends on m − n only.
    The frequencies are those of the d_head/2 pairs, radians per position.

    Source:
        Su et al. 2021 (RoFormer), eq. 34. Differs from source: coordinates i and i + d_head/2 are paired, not
        2i and 2i + 1 (a fixed permutation of the coordinates), as in Llama; two contiguous halves are faster.
    """

    kind = "rope"
    cosines: Tensor
    sines: Tensor

    def __init__(self, frequencies: Float[Tensor, " pairs"]) -> None:
        super().__init__()
        self.frequencies = frequencies
        self.register_buffer("cosines", torch.empty(0, len(frequencies)), persistent=False)
        self.register_buffer("sines", torch.empty(0, len(frequencies)), persistent=False)
        self._grow(_TABLE_SIZE)

    def rotate(
        self, x: Float[Tensor, "batch heads seq d_head"], positions: Int[Tensor, "*batch seq"]
    ) -> Float[Tensor, "batch heads seq d_head"]:
        """Rotate the rows of `x` by their positions."""
        return rotate_pairs(x, *self._look_up(positions, x.dtype))

    def unrotate(
        self, x: Float[Tensor, "batch heads seq d_head"], positions: Int[Tensor, "*batch seq"]
    ) -> Float[Tensor, "batch heads seq d_head"]:
        """Rotate the rows of `x` back."""
        cosine, sine = self._look_up(positions, x.dtype)
        return rotate_pairs(x, cosine, -sine)

    def table(self, count: int) -> PositionTable:
        """Return the angles at the first `count` positions."""
        frequencies = self.frequencies.double().cpu()
        values = torch.arange(count, dtype=torch.float64)[:, None] * frequencies
        caption = "Each pair of coordinates is rotated by position · frequency."
        meaning = "angle by which a pair is rotated"
        return PositionTable("rotary_angles", ("position", "pair"), "radians", meaning, caption, values)

    def _look_up(self, positions: Int[Tensor, "*batch seq"], dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        count = int(positions.max()) + 1
        if count > len(self.cosines):
            self._grow(max(count, 2 * len(self.cosines)))
        cosine, sine = self.cosines[positions].to(dtype), self.sines[positions].to(dtype)
        return cosine.unsqueeze(-3), sine.unsqueeze(-3)  # the same for all heads

    def _grow(self, count: int) -> None:
        """Compute the cosines and sines of the first `count` positions in float64, kept in the model's precision."""
        angles = torch.arange(count, dtype=torch.float64)[:, None] * self.frequencies
        self.cosines = angles.cos().to(self.cosines)
        self.sines = angles.sin().to(self.sines)


class AlibiBias(AttentionPositions):
    """Attention with linear biases: head h adds −slope_h · |query position − key position| to its scores.

    Slopes are 2^(−8(h+1)/n_heads). Under a causal mask only the keys up to the query matter, which gives the
    usual one-sided penalty; without a mask, the penalty is the same on both sides.

    Source:
        Press et al. 2022 (ALiBi), §3. Differs from source: the paper's slopes for a power of two of heads are used here
        for any number of heads.
    """

    kind = "alibi"
    slopes: Tensor

    def __init__(self, n_heads: int) -> None:
        super().__init__()
        slopes = 2.0 ** (-8.0 * torch.arange(1, n_heads + 1, dtype=torch.float64) / n_heads)
        self.register_buffer("slopes", slopes.float(), persistent=False)

    def score_bias(
        self, query_positions: Int[Tensor, "*batch query"], key_positions: Int[Tensor, "*batch key"]
    ) -> Float[Tensor, "*batch heads query key"]:
        """Compute the penalty of each pair in each head."""
        distance = (query_positions[..., :, None] - key_positions[..., None, :]).abs()
        return -self.slopes[:, None, None] * distance.unsqueeze(-3)

    def table(self, count: int) -> PositionTable:
        """Return the slopes of the heads."""
        caption = "ALiBi subtracts slope · distance from every score."
        return PositionTable("alibi_slopes", ("heads",), "nats", "slope of a head", caption, self.slopes.double().cpu())


def build_position_encoding(scheme: PositionScheme, d_model: int, learned_positions: int) -> PositionEncoding:
    """Build the module whose output a scheme adds to the embeddings."""
    match scheme:
        case "sinusoidal":
            return SinusoidalEncoding(d_model)
        case "learned":
            return LearnedEncoding(d_model, learned_positions)
        case "rope" | "alibi" | "none":
            return PositionEncoding()
        case _:
            assert_never(scheme)


def build_attention_positions(
    scheme: PositionScheme, n_heads: int, frequencies: Float[Tensor, " pairs"]
) -> AttentionPositions:
    """Build the module by which a scheme acts in attention."""
    match scheme:
        case "rope":
            return Rotary(frequencies)
        case "alibi":
            return AlibiBias(n_heads)
        case "sinusoidal" | "learned" | "none":
            return AttentionPositions()
        case _:
            assert_never(scheme)

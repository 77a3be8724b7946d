"""Attention: each query averages values, weighting each by how well its key matches."""

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from pellucid.errors import ShapeError
from pellucid.layers.positions import AttentionPositions
from pellucid.layers.taps import Tap, TapInfo, keep

__all__ = ["ATTENTION_TAPS", "Attention", "HeadConfig", "KeyValue", "attend"]

ATTEND_TAPS = (
    TapInfo("scores", "query · key / √d_head plus the bias, before the mask", "batch heads query key", "nats"),
    TapInfo(
        "weights",
        "softmax of the scores; each row sums to 1, or to 0 where the mask allows nothing",
        "batch heads query key",
        "share",
    ),
    TapInfo("head_output", "weighted sum of the values", "batch heads query d_head"),
)
ATTENTION_TAPS = (
    TapInfo("key", "projected (and normalised), before rotation by position", "batch kv_heads key d_head"),
    TapInfo("value", "projected", "batch kv_heads key d_head"),
    TapInfo("query", "projected (and normalised), before rotation by position", "batch heads query d_head"),
    *ATTEND_TAPS,
    TapInfo("output", "added to the residual stream", "batch query d_model"),
)
"""In the order of a forward pass."""


class KeyValue(NamedTuple):
    """Keys (rotated, if positions are rotary) and values per head, and the positions of their tokens."""

    key: Float[Tensor, "batch kv_heads key d_head"]
    value: Float[Tensor, "batch kv_heads key d_head"]
    positions: Int[Tensor, "*batch key"]


class HeadConfig(NamedTuple):
    """Number and width of the heads, and how queries and keys are projected.

    Attributes:
        n_heads: number of query heads.
        n_kv_heads: number of key and value heads; divides n_heads.
        bias: whether the projections to queries, keys and values have biases.
        norm: d_head → a module that normalises each head's query, or key, before it is rotated.
    """

    n_heads: int
    n_kv_heads: int
    d_head: int
    bias: bool = True
    norm: Callable[[int], nn.Module] = nn.Identity


def attend(
    query: Float[Tensor, "batch heads query d_head"],
    key: Float[Tensor, "batch kv_heads key d_head"],
    value: Float[Tensor, "batch kv_heads key d_head"],
    may_attend: Bool[Tensor, "#batch #heads #query #key"],
    tap: Tap = keep,
    *,
    bias: Float[Tensor, "*#batch heads #query key"] | None = None,
    dropout: float = 0.0,
) -> Float[Tensor, "batch heads query d_head"]:
    """Average values, weighting each by how well its key matches the query.

    softmax(Q Kᵀ / √d_head + bias) V; forbidden pairs get weight 0. A row with nothing allowed gives zeros, not NaN.
    The softmax is computed in float32. With fewer key heads than query heads, each key head serves a group of adjacent
    query heads.

    Args:
        may_attend: True where a query may attend to a key.
        bias: added to the scores (ALiBi).

    Taps: `ATTEND_TAPS`.

    Raises:
        ShapeError: if key and value differ in shape, or the number of key heads does not divide that of query heads.

    Source:
        Vaswani et al. 2017, eq. 1; Ainslie et al. 2023 for grouped queries.
    """
    if key.shape != value.shape or query.shape[1] % key.shape[1]:
        raise ShapeError(
            f"shapes do not match: query {list(query.shape)}, key {list(key.shape)}, value {list(value.shape)}"
        )
    group = query.shape[1] // key.shape[1]
    if group > 1:
        key, value = key.repeat_interleave(group, dim=1), value.repeat_interleave(group, dim=1)
    if tap is keep and query.is_cuda:
        return _attend_fused(query, key, value, may_attend, bias, dropout)
    scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
    scores = tap("scores", scores if bias is None else scores + bias)
    # Use the lowest finite number, not −inf: its weight is exactly 0 as well, and the gradient of a fully masked row is
    # not NaN. Adding and multiplying is faster than masked_fill and gives the same bits.
    lowest = torch.finfo(torch.float32).min
    forbidden = torch.zeros_like(may_attend, dtype=torch.float32).masked_fill_(~may_attend, lowest)
    any_allowed = may_attend.any(-1, keepdim=True).float()
    weights = tap("weights", (scores.float() + forbidden).softmax(-1) * any_allowed)
    weights = F.dropout(weights, dropout) if dropout else weights
    return tap("head_output", weights.to(value.dtype) @ value)


def _attend_fused(
    query: Tensor, key: Tensor, value: Tensor, may_attend: Tensor, bias: Tensor | None, dropout: float
) -> Tensor:
    """Compute the result of `attend` with the GPU's fused kernel.

    Fully masked rows first attend to everything and are then set to zero.
    """
    any_allowed = may_attend.any(-1, keepdim=True)
    allowed = may_attend | ~any_allowed
    lowest = torch.finfo(query.dtype).min
    mask = allowed if bias is None else bias.to(query.dtype).masked_fill(~allowed, lowest)
    return F.scaled_dot_product_attention(query, key, value, mask, dropout).masked_fill(~any_allowed, 0.0)


class Attention(nn.Module):
    """Multi-head attention: project, split into heads, attend in each, merge, project.

    Args:
        bias: whether the output projection has a bias.
        dropout: probability of dropping an attention weight in training.
        positions: rotates queries and keys, or biases their scores.

    Taps: `ATTENTION_TAPS`.

    Source:
        Vaswani et al. 2017, §3.2.2.
    """

    def __init__(
        self, d_model: int, heads: HeadConfig, bias: bool, dropout: float, positions: AttentionPositions
    ) -> None:
        super().__init__()
        self.n_heads, self.n_kv_heads, self.d_head = heads.n_heads, heads.n_kv_heads, heads.d_head
        self.query = nn.Linear(d_model, heads.n_heads * heads.d_head, heads.bias)
        self.key = nn.Linear(d_model, heads.n_kv_heads * heads.d_head, heads.bias)
        self.value = nn.Linear(d_model, heads.n_kv_heads * heads.d_head, heads.bias)
        self.output = nn.Linear(heads.n_heads * heads.d_head, d_model, bias)
        self.query_norm, self.key_norm = heads.norm(heads.d_head), heads.norm(heads.d_head)
        self.dropout = dropout
        self.positions = positions

    def key_value(
        self, states: Float[Tensor, "batch key d_model"], positions: Int[Tensor, "*batch key"], tap: Tap = keep
    ) -> KeyValue:
        """Project states to keys and values."""
        key = tap("key", self.key_norm(self._split(self.key(states), self.n_kv_heads)))
        value = tap("value", self._split(self.value(states), self.n_kv_heads))
        return KeyValue(self.positions.rotate(key, positions), value, positions)

    def forward(
        self,
        states: Float[Tensor, "batch query d_model"],
        key_value: KeyValue,
        may_attend: Bool[Tensor, "#batch 1 #query key"],
        positions: Int[Tensor, "*batch query"],
        tap: Tap = keep,
    ) -> Float[Tensor, "batch query d_model"]:
        """Compute the output that is added to the residual stream of the queries."""
        query = tap("query", self.query_norm(self._split(self.query(states), self.n_heads)))
        query, key, value = self.positions.rotate(query, positions), key_value.key, key_value.value
        bias = self.positions.score_bias(positions, key_value.positions)
        dropout = self.dropout if self.training else 0.0
        head_output = attend(query, key, value, may_attend, tap, bias=bias, dropout=dropout)
        return tap("output", self.output(head_output.transpose(1, 2).flatten(2)))

    def _split(
        self, x: Float[Tensor, "batch seq heads_d_head"], n_heads: int
    ) -> Float[Tensor, "batch heads seq d_head"]:
        return x.view(*x.shape[:-1], n_heads, self.d_head).transpose(1, 2)

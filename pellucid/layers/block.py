"""Blocks: parts around a residual stream."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from pellucid.layers.attention import ATTENTION_TAPS, Attention, KeyValue
from pellucid.layers.feed_forward import FEED_FORWARD_TAPS
from pellucid.layers.taps import Tap, TapInfo, keep, scope_taps, scoped

__all__ = [
    "DECODER_BLOCK_TAPS",
    "SELF_ATTENTION_BLOCK_TAPS",
    "DecoderBlock",
    "PostNorm",
    "PreNorm",
    "SelfAttentionBlock",
    "cast_for_matmul",
    "no_cache",
]

Sublayer = Callable[[Tensor], Tensor]


def cast_for_matmul(x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
    """Return `x` in the numbers that matrix products are computed in; as it is unless under autocast.

    The residual stream stays in float32. What a part reads of it is cast once here, not once in each of the projections
    that read it (4 % of a training step in bfloat16 on CPU).
    """
    kind = x.device.type
    return x.to(torch.get_autocast_dtype(kind)) if torch.is_autocast_enabled(kind) else x


_FIRST_TAPS = (
    TapInfo("residual.input", "residual stream before the block", "batch query d_model"),
    *scope_taps("self_attention", ATTENTION_TAPS),
    TapInfo("residual.after_self_attention", "residual stream after self-attention", "batch query d_model"),
)
_LAST_TAPS = (
    *scope_taps("feed_forward", FEED_FORWARD_TAPS),
    TapInfo("residual.output", "residual stream after the block", "batch query d_model"),
)
SELF_ATTENTION_BLOCK_TAPS = (*_FIRST_TAPS, *_LAST_TAPS)
DECODER_BLOCK_TAPS = (
    *_FIRST_TAPS,
    *scope_taps("cross_attention", ATTENTION_TAPS),
    TapInfo("residual.after_cross_attention", "residual stream after cross-attention", "batch query d_model"),
    *_LAST_TAPS,
)


class PreNorm(nn.Module):
    """x + dropout(part(norm(x))).

    Source:
        Xiong et al. 2020, fig. 1b.
    """

    norm: Sublayer
    dropout: Sublayer

    def __init__(self, norm: nn.Module, dropout: float) -> None:
        super().__init__()
        self.norm = norm
        self.dropout = nn.Dropout(dropout) if dropout else nn.Identity()

    def forward(self, x: Float[Tensor, "batch seq d_model"], part: Sublayer) -> Float[Tensor, "batch seq d_model"]:
        """Add what the part makes of the normalised stream."""
        return x + self.dropout(part(cast_for_matmul(self.norm(x))))


class PostNorm(PreNorm):
    """norm(x + dropout(part(x))).

    Source:
        Vaswani et al. 2017, §3.1.
    """

    def forward(self, x: Float[Tensor, "batch seq d_model"], part: Sublayer) -> Float[Tensor, "batch seq d_model"]:
        """Normalise the sum of the stream and what the part makes of it."""
        return self.norm(x + self.dropout(part(cast_for_matmul(x))))


def no_cache(key_value: KeyValue) -> KeyValue:
    """Return the keys and values of this pass alone: nothing is remembered."""
    return key_value


class SelfAttentionBlock(nn.Module):
    """Self-attention, then feed-forward, each around the residual stream: of an encoder, or of a decoder-only model.

    Taps: `SELF_ATTENTION_BLOCK_TAPS`.
    """

    def __init__(self, self_attention: Attention, feed_forward: nn.Module, residual: Callable[[], PreNorm]) -> None:
        super().__init__()
        self.self_attention, self.self_attention_residual = self_attention, residual()
        self.feed_forward, self.feed_forward_residual = feed_forward, residual()

    def forward(
        self,
        x: Float[Tensor, "batch seq d_model"],
        may_attend: Bool[Tensor, "#batch 1 #seq key"],
        positions: Int[Tensor, "*batch seq"],
        tap: Tap = keep,
        append: Callable[[KeyValue], KeyValue] = no_cache,
    ) -> Float[Tensor, "batch seq d_model"]:
        """Return the stream after this block.

        Args:
            append: joins the new keys and values to those of earlier tokens (a cache), or leaves them as they are.
        """

        def attend_self(normed: Tensor) -> Tensor:
            inner = scoped(tap, "self_attention")
            key_value = append(self.self_attention.key_value(normed, positions, inner))
            added: Tensor = self.self_attention(normed, key_value, may_attend, positions, inner)
            return added

        x = tap("residual.input", x)
        x = tap("residual.after_self_attention", self.self_attention_residual(x, attend_self))
        x = self.feed_forward_residual(x, lambda normed: self.feed_forward(normed, scoped(tap, "feed_forward")))
        return tap("residual.output", x)


class DecoderBlock(nn.Module):
    """Self-attention, cross-attention, feed-forward, each around the residual stream.

    Taps: `DECODER_BLOCK_TAPS`.
    """

    def __init__(
        self,
        self_attention: Attention,
        cross_attention: Attention,
        feed_forward: nn.Module,
        residual: Callable[[], PreNorm],
    ) -> None:
        super().__init__()
        self.self_attention, self.self_attention_residual = self_attention, residual()
        self.cross_attention, self.cross_attention_residual = cross_attention, residual()
        self.feed_forward, self.feed_forward_residual = feed_forward, residual()

    def forward(
        self,
        x: Float[Tensor, "batch seq d_model"],
        may_attend: Bool[Tensor, "#batch 1 seq key"],
        positions: Int[Tensor, " seq"],
        source: KeyValue,
        may_attend_source: Bool[Tensor, "batch 1 1 source"],
        append: Callable[[KeyValue], KeyValue] = no_cache,
        tap: Tap = keep,
    ) -> Float[Tensor, "batch seq d_model"]:
        """Return the stream after this block.

        Args:
            source: this block's keys and values of the encoder's states.
            append: joins the new keys and values to those of earlier steps (a cache), or leaves them as they are.
        """

        def attend_self(normed: Tensor) -> Tensor:
            inner = scoped(tap, "self_attention")
            key_value = append(self.self_attention.key_value(normed, positions, inner))
            added: Tensor = self.self_attention(normed, key_value, may_attend, positions, inner)
            return added

        def attend_source(normed: Tensor) -> Tensor:
            inner = scoped(tap, "cross_attention")
            added: Tensor = self.cross_attention(normed, source, may_attend_source, positions, inner)
            return added

        x = tap("residual.input", x)
        x = tap("residual.after_self_attention", self.self_attention_residual(x, attend_self))
        x = tap("residual.after_cross_attention", self.cross_attention_residual(x, attend_source))
        x = self.feed_forward_residual(x, lambda normed: self.feed_forward(normed, scoped(tap, "feed_forward")))
        return tap("residual.output", x)

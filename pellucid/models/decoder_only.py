"""The decoder-only Transformer: tokens in, a distribution over the next token out."""

from collections.abc import Iterator
from functools import partial
from typing import ClassVar, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from pellucid.layers.attention import Attention, HeadConfig
from pellucid.layers.block import SELF_ATTENTION_BLOCK_TAPS, PostNorm, PreNorm, SelfAttentionBlock
from pellucid.layers.cache import SequenceCache
from pellucid.layers.embeddings import TokenEmbedding
from pellucid.layers.feed_forward import FEED_FORWARDS
from pellucid.layers.masks import causal, not_padding
from pellucid.layers.norms import NORMS, RMSNorm
from pellucid.layers.positions import build_attention_positions, build_position_encoding
from pellucid.layers.rotary import rotary_frequencies, scaled_frequencies
from pellucid.layers.taps import Tap, TapInfo, keep, scope_taps, scoped
from pellucid.models.decoder_only_config import DecoderOnlyConfig

__all__ = ["DECODER_ONLY_TAPS", "DecoderOnly"]

DECODER_ONLY_TAPS = (
    TapInfo("embedding.token", "embeddings of the tokens, scaled", "batch query d_model"),
    TapInfo("embedding.position", "added by position; a single 0 if nothing is", "query d_model"),
    *scope_taps("decoder.N", SELF_ATTENTION_BLOCK_TAPS),
    TapInfo("decoder.output", "the residual stream after the last norm", "batch query d_model"),
    TapInfo("logits", "score of each token to come next, before the softmax", "batch query vocab_size", "nats"),
)


class DecoderOnly(nn.Module):
    """A language model, like GPT or Llama depending on its configuration.

    `pad_id` pads short sequences, and nobody attends to it; None if every id is a token.

    Taps: `DECODER_ONLY_TAPS`.

    Source:
        Radford et al. 2019 (GPT-2), §2.3; Touvron et al. 2023 (Llama), §2.2.
    """

    taps: ClassVar = DECODER_ONLY_TAPS

    def __init__(self, config: DecoderOnlyConfig, vocab_size: int, pad_id: int | None) -> None:
        super().__init__()
        self.config = config
        self.vocab_size = vocab_size
        self.pad_id = -1 if pad_id is None else pad_id  # no id is −1
        scale = config.d_model**0.5 if config.scale_embeddings else 1.0
        self.embedding = TokenEmbedding(vocab_size, config.d_model, scale)
        self.output_embedding = (
            self.embedding if config.tie_embeddings else TokenEmbedding(vocab_size, config.d_model, scale)
        )
        self.position_encoding = build_position_encoding(config.positions, config.d_model, config.max_positions)
        self.embedding_dropout = nn.Dropout(config.dropout) if config.dropout else nn.Identity()
        self.decoder = nn.ModuleList(_block(config) for _ in range(config.n_layers))
        self.decoder_norm = _norm(config) if config.norm_placement == "pre" else nn.Identity()

    def forward(
        self,
        ids: Int[Tensor, "batch seq"],
        tap: Tap = keep,
        *,
        may_attend: Bool[Tensor, "#batch 1 seq seq"] | None = None,
        positions: Int[Tensor, "*batch seq"] | None = None,
    ) -> Float[Tensor, "batch seq vocab_size"]:
        """Compute, for each position, the logits of the token that follows it."""
        return self.logits(self.states(ids, tap, may_attend=may_attend, positions=positions), tap)

    def states(
        self,
        ids: Int[Tensor, "batch seq"],
        tap: Tap = keep,
        *,
        may_attend: Bool[Tensor, "#batch 1 seq seq"] | None = None,
        positions: Int[Tensor, "*batch seq"] | None = None,
    ) -> Float[Tensor, "batch seq d_model"]:
        """Compute the states that the output matrix reads; each token attends to itself and those before it.

        Args:
            may_attend: True where a token may attend to another; by default to itself and all before it but padding.
            positions: of the tokens; 0, 1, 2 … by default. None may exceed the length of `ids`.
        """
        count = ids.shape[1]
        if positions is None:
            positions = torch.arange(count, device=ids.device)
        if may_attend is None:
            may_attend = causal(count, ids.device) & not_padding(ids, self.pad_id)
        x = self._embed(ids, positions, count, tap)
        for n, block in enumerate(self.blocks()):
            x = block(x, may_attend, positions, scoped(tap, f"decoder.{n}"))
        return tap("decoder.output", self.decoder_norm(x))

    def extend(
        self, ids: Int[Tensor, "batch seq"], cache: SequenceCache, tap: Tap = keep
    ) -> Float[Tensor, "batch seq d_model"]:
        """Compute the states of further tokens, which attend to those in the cache, and append them to it."""
        new = cache.open_tokens(ids.shape[1], ids.device)
        x = self._embed(ids, new.positions, new.end, tap)
        for n, block in enumerate(self.blocks()):
            x = block(x, new.may_attend, new.positions, scoped(tap, f"decoder.{n}"), partial(cache.append, n))
        return tap("decoder.output", self.decoder_norm(x))

    def start_cache(self, room: int = 256, padding: Int[Tensor, " batch"] | None = None) -> SequenceCache:
        """Create an empty cache.

        Args:
            room: tokens per sequence for which room is reserved at first.
            padding: how many of a row's first tokens will be padding, [batch]; None if none are in any.
        """
        return SequenceCache(self.config.n_layers, room, padding)

    def logits(self, states: Float[Tensor, "*batch d_model"], tap: Tap = keep) -> Float[Tensor, "*batch vocab_size"]:
        """Compute the logit of every token after each state."""
        return tap("logits", self.output_embedding.logits(states))

    def blocks(self) -> Iterator[SelfAttentionBlock]:
        """Iterate over the blocks, first to last."""
        return cast(Iterator[SelfAttentionBlock], iter(self.decoder))

    def _embed(self, ids: Tensor, positions: Tensor, count: int, tap: Tap) -> Tensor:
        rows = tap("embedding.token", self.embedding(ids))
        encoding = tap("embedding.position", self.position_encoding(positions, count))
        x: Tensor = self.embedding_dropout(rows + encoding)
        return x


def _norm(config: DecoderOnlyConfig) -> nn.Module:
    return NORMS[config.norm](config.d_model, config.norm_epsilon)


def _attention(config: DecoderOnlyConfig) -> Attention:
    norm = partial(RMSNorm, epsilon=config.norm_epsilon) if config.qk_norm else nn.Identity
    heads = HeadConfig(config.n_heads, config.kv_heads, config.head_width, config.projection_bias, norm)
    frequencies = rotary_frequencies(config.head_width, config.rope_base)
    if config.rope_scaling is not None:
        frequencies = scaled_frequencies(frequencies, **config.rope_scaling.model_dump())
    positions = build_attention_positions(config.positions, config.n_heads, frequencies)
    return Attention(config.d_model, heads, config.bias, config.attention_dropout, positions)


def _block(config: DecoderOnlyConfig) -> SelfAttentionBlock:
    residual = PreNorm if config.norm_placement == "pre" else PostNorm
    feed_forward = FEED_FORWARDS[config.activation](config.d_model, config.d_ff, config.bias)
    return SelfAttentionBlock(_attention(config), feed_forward, lambda: residual(_norm(config), config.dropout))

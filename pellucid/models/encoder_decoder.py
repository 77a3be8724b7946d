"""The encoder–decoder Transformer: a source sentence in, a distribution over the next target token out."""

from collections.abc import Iterator
from typing import ClassVar, NamedTuple, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from pellucid.errors import UserError
from pellucid.layers.attention import Attention, HeadConfig, KeyValue
from pellucid.layers.block import (
    DECODER_BLOCK_TAPS,
    SELF_ATTENTION_BLOCK_TAPS,
    DecoderBlock,
    PostNorm,
    PreNorm,
    SelfAttentionBlock,
    cast_for_matmul,
)
from pellucid.layers.cache import DecoderCache
from pellucid.layers.embeddings import TokenEmbedding
from pellucid.layers.feed_forward import FEED_FORWARDS
from pellucid.layers.masks import causal, not_padding
from pellucid.layers.norms import NORMS
from pellucid.layers.positions import AlibiBias, LearnedEncoding, NoEncoding, SinusoidalEncoding, no_bias
from pellucid.layers.rotary import Rotary, no_rotation, rotary_frequencies
from pellucid.layers.taps import Tap, TapInfo, keep, scope_taps, scoped
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig

__all__ = ["ENCODER_DECODER_TAPS", "EncoderDecoder", "Memory"]


class Memory(NamedTuple):
    """What the encoder made of the source, which of it is not padding, and where its tokens stand."""

    states: Float[Tensor, "batch source d_model"]
    may_attend: Bool[Tensor, "batch 1 1 source"]
    positions: Int[Tensor, " source"]


ENCODER_DECODER_TAPS = (
    TapInfo("embedding.source", "embeddings of the source tokens, scaled", "batch source d_model"),
    TapInfo("embedding.source_position", "added by position; a single 0 if nothing is", "source d_model"),
    *scope_taps("encoder.N", SELF_ATTENTION_BLOCK_TAPS),
    TapInfo("encoder.output", "the encoder's residual stream after its last norm", "batch source d_model"),
    TapInfo("embedding.target", "embeddings of the target tokens, scaled", "batch target d_model"),
    TapInfo("embedding.target_position", "added by position; a single 0 if nothing is", "target d_model"),
    *scope_taps("decoder.N", DECODER_BLOCK_TAPS),
    TapInfo("decoder.output", "the decoder's residual stream after its last norm", "batch target d_model"),
    TapInfo("logits", "score of each token to come next, before the softmax", "batch target vocab_size", "nats"),
)


class EncoderDecoder(nn.Module):
    """The Transformer of the paper, with the choices of its configuration.

    Args:
        config: sizes and choices.
        source_vocab_size: rows of the source embedding.
        target_vocab_size: rows of the target embedding and of the output.
        pad_id: the id that fills short sentences up; nobody looks at it.

    Taps: `ENCODER_DECODER_TAPS`.

    Raises:
        UserError: if one matrix shall serve two vocabularies of different sizes.

    Source:
        Vaswani et al. 2017.
    """

    taps: ClassVar = ENCODER_DECODER_TAPS

    def __init__(
        self, config: EncoderDecoderConfig, source_vocab_size: int, target_vocab_size: int, pad_id: int
    ) -> None:
        super().__init__()
        if config.tie_embeddings == "all" and source_vocab_size != target_vocab_size:
            raise UserError(
                "one embedding matrix cannot serve two vocabularies:"
                f" {source_vocab_size} source and {target_vocab_size} target tokens",
                where="model.tie_embeddings",
                hint="Set model.tie_embeddings to output or none, or train one tokenizer for both (tokenizer.joint).",
            )
        self.config = config
        self.pad_id = pad_id
        scale = config.d_model**0.5 if config.scale_embeddings else 1.0
        self.target_embedding = TokenEmbedding(target_vocab_size, config.d_model, scale)
        self.source_embedding = (
            self.target_embedding
            if config.tie_embeddings == "all"
            else TokenEmbedding(source_vocab_size, config.d_model, scale)
        )
        self.output_embedding = (
            TokenEmbedding(target_vocab_size, config.d_model, scale)
            if config.tie_embeddings == "none"
            else self.target_embedding
        )
        self.source_position_encoding = _codes(config)
        self.target_position_encoding = _codes(config)
        self.embedding_dropout = nn.Dropout(config.dropout) if config.dropout else nn.Identity()
        self.encoder = nn.ModuleList(_encoder_block(config) for _ in range(config.encoder_layers))
        self.decoder = nn.ModuleList(_decoder_block(config) for _ in range(config.decoder_layers))
        pre = config.norm_placement == "pre"
        self.encoder_norm = NORMS[config.norm](config.d_model) if pre else nn.Identity()
        self.decoder_norm = NORMS[config.norm](config.d_model) if pre else nn.Identity()

    def forward(
        self, source_ids: Int[Tensor, "batch source"], target_ids: Int[Tensor, "batch target"], tap: Tap = keep
    ) -> Float[Tensor, "batch target vocab_size"]:
        """Return, for each target position, the logits of the token that follows it (teacher forcing)."""
        return self.logits(self.decode(target_ids, self.encode(source_ids, tap), tap), tap)

    def encode(self, source_ids: Int[Tensor, "batch source"], tap: Tap = keep) -> Memory:
        """Read the source."""
        count = source_ids.shape[1]
        positions = torch.arange(count, device=source_ids.device)
        may_attend = not_padding(source_ids, self.pad_id)
        rows = tap("embedding.source", self.source_embedding(source_ids))
        x = self.embedding_dropout(
            rows + tap("embedding.source_position", self.source_position_encoding(positions, count))
        )
        for n, block in enumerate(self.encoder):
            x = block(x, may_attend, positions, scoped(tap, f"encoder.{n}"))
        return Memory(cast_for_matmul(tap("encoder.output", self.encoder_norm(x))), may_attend, positions)

    def decode(
        self, target_ids: Int[Tensor, "batch target"], memory: Memory, tap: Tap = keep
    ) -> Float[Tensor, "batch target d_model"]:
        """Return the decoder's states for a whole given target; each position sees itself and those before."""
        count = target_ids.shape[1]
        positions = torch.arange(count, device=target_ids.device)
        may_attend = causal(count, target_ids.device)
        x = self._embed_target(target_ids, positions, count, tap)
        for n, (block, source) in enumerate(zip(self.decoder_blocks(), self.project_memory(memory, tap), strict=True)):
            x = block(x, may_attend, positions, source, memory.may_attend, tap=scoped(tap, f"decoder.{n}"))
        return tap("decoder.output", self.decoder_norm(x))

    def decode_step(
        self, ids: Int[Tensor, "batch hypotheses"], cache: DecoderCache, tap: Tap = keep
    ) -> Float[Tensor, "batch hypotheses d_model"]:
        """Return the decoder's states one token further, for hypotheses side by side on the query axis."""
        positions = torch.full((ids.shape[1],), cache.step, device=ids.device)
        cache.open_step()
        x = self._embed_target(ids, positions, cache.step, tap)
        for n, block in enumerate(self.decoder_blocks()):
            x = block(
                x,
                cache.may_attend,
                positions,
                cache.source[n],
                cache.may_attend_source,
                append=lambda new, n=n: cache.append(n, new),
                tap=scoped(tap, f"decoder.{n}"),
            )
        return tap("decoder.output", self.decoder_norm(x))

    def start_cache(self, memory: Memory, hypotheses: int) -> DecoderCache:
        """Return an empty cache over this source for some hypotheses a sentence."""
        return DecoderCache(self.project_memory(memory), memory.may_attend, hypotheses)

    def project_memory(self, memory: Memory, tap: Tap = keep) -> list[KeyValue]:
        """Project the encoder's states to each decoder block's keys and values, once a sentence."""
        return [
            block.cross_attention.key_value(
                memory.states, memory.positions, scoped(scoped(tap, f"decoder.{n}"), "cross_attention")
            )
            for n, block in enumerate(self.decoder_blocks())
        ]

    def decoder_blocks(self) -> Iterator[DecoderBlock]:
        """Return the decoder's blocks, first to last."""
        return cast(Iterator[DecoderBlock], iter(self.decoder))

    def logits(self, states: Float[Tensor, "*batch d_model"], tap: Tap = keep) -> Float[Tensor, "*batch vocab_size"]:
        """Return the score of every target token after each state."""
        return tap("logits", self.output_embedding.logits(states))

    def _embed_target(self, ids: Tensor, positions: Tensor, count: int, tap: Tap) -> Tensor:
        rows = tap("embedding.target", self.target_embedding(ids))
        x: Tensor = self.embedding_dropout(
            rows + tap("embedding.target_position", self.target_position_encoding(positions, count))
        )
        return x


def _codes(config: EncoderDecoderConfig) -> nn.Module:
    if config.positions == "sinusoidal":
        return SinusoidalEncoding(config.d_model)
    if config.positions == "learned":
        return LearnedEncoding(config.d_model, config.max_positions)
    return NoEncoding()


def _attention(config: EncoderDecoderConfig, rotary: bool, linear_bias: bool) -> Attention:
    return Attention(
        config.d_model,
        HeadConfig(config.n_heads, config.kv_heads, config.d_head, config.bias),
        config.bias,
        config.attention_dropout,
        Rotary(rotary_frequencies(config.d_head, config.rope_base)) if rotary else no_rotation,
        AlibiBias(config.n_heads) if linear_bias else no_bias,
    )


def _self_attention(config: EncoderDecoderConfig) -> Attention:
    return _attention(config, rotary=config.positions == "rope", linear_bias=config.positions == "alibi")


def _feed_forward(config: EncoderDecoderConfig) -> nn.Module:
    return FEED_FORWARDS[config.activation](config.d_model, config.d_ff, config.bias)


def _residual(config: EncoderDecoderConfig) -> PreNorm:
    place = PreNorm if config.norm_placement == "pre" else PostNorm
    return place(NORMS[config.norm](config.d_model), config.dropout)


def _encoder_block(config: EncoderDecoderConfig) -> SelfAttentionBlock:
    return SelfAttentionBlock(_self_attention(config), _feed_forward(config), lambda: _residual(config))


def _decoder_block(config: EncoderDecoderConfig) -> DecoderBlock:
    cross_attention = _attention(config, rotary=config.cross_positions == "rope", linear_bias=False)
    return DecoderBlock(_self_attention(config), cross_attention, _feed_forward(config), lambda: _residual(config))

"""The encoder–decoder Transformer: a source sentence in, a distribution over the next target token out."""

from collections.abc import Iterator
from functools import partial
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
    Residual,
    SelfAttentionBlock,
    cast_for_matmul,
)
from pellucid.layers.cache import BeamCache
from pellucid.layers.embeddings import TokenEmbedding
from pellucid.layers.feed_forward import FEED_FORWARDS
from pellucid.layers.masks import causal, not_padding
from pellucid.layers.norms import NORMS
from pellucid.layers.position_scheme import PositionScheme
from pellucid.layers.positions import build_attention_positions, build_position_encoding
from pellucid.layers.rotary import rotary_frequencies
from pellucid.layers.taps import Tap, TapInfo, keep, scope_taps, scoped
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig

__all__ = ["ENCODER_DECODER_TAPS", "EncoderDecoder", "Memory"]


class Memory(NamedTuple):
    """The encoder's states, which of them are not padding, and their positions."""

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

    `pad_id` pads short sentences; nobody attends to it.

    Taps: `ENCODER_DECODER_TAPS`.

    Raises:
        UserError: if one matrix is to serve two vocabularies of different sizes.

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
        self.source_position_encoding, self.target_position_encoding = (
            build_position_encoding(config.positions, config.d_model, config.learned_positions) for _ in range(2)
        )
        self.embedding_dropout = nn.Dropout(config.dropout) if config.dropout else nn.Identity()
        self.encoder = nn.ModuleList(_encoder_block(config) for _ in range(config.encoder_layers))
        self.decoder = nn.ModuleList(_decoder_block(config) for _ in range(config.decoder_layers))
        pre = config.norm_placement == "pre"
        self.encoder_norm = NORMS[config.norm](config.d_model) if pre else nn.Identity()
        self.decoder_norm = NORMS[config.norm](config.d_model) if pre else nn.Identity()

    def forward(
        self, source_ids: Int[Tensor, "batch source"], target_ids: Int[Tensor, "batch target"], tap: Tap = keep
    ) -> Float[Tensor, "batch target vocab_size"]:
        """Compute, for each target position, the logits of the token that follows it (teacher forcing)."""
        return self.logits(self.decode(target_ids, self.encode(source_ids, tap), tap), tap)

    def encode(self, source_ids: Int[Tensor, "batch source"], tap: Tap = keep) -> Memory:
        """Encode the source."""
        count = source_ids.shape[1]
        positions = torch.arange(count, device=source_ids.device)
        may_attend = not_padding(source_ids, self.pad_id)
        rows = tap("embedding.source", self.source_embedding(source_ids))
        encoding = tap("embedding.source_position", self.source_position_encoding(positions, count))
        x = self.embedding_dropout(rows + encoding)
        for n, block in enumerate(self.encoder):
            x = block(x, may_attend, positions, scoped(tap, f"encoder.{n}"))
        return Memory(cast_for_matmul(tap("encoder.output", self.encoder_norm(x))), may_attend, positions)

    def decode(
        self, target_ids: Int[Tensor, "batch target"], memory: Memory, tap: Tap = keep
    ) -> Float[Tensor, "batch target d_model"]:
        """Compute the decoder's states of a whole given target; each token attends to itself and those before it."""
        count = target_ids.shape[1]
        positions = torch.arange(count, device=target_ids.device)
        may_attend = causal(count, target_ids.device)
        x = self._embed_target(target_ids, positions, count, tap)
        for n, (block, source) in enumerate(zip(self.decoder_blocks(), self.project_memory(memory, tap), strict=True)):
            x = block(x, may_attend, positions, source, memory.may_attend, scoped(tap, f"decoder.{n}"))
        return tap("decoder.output", self.decoder_norm(x))

    def decode_step(
        self, ids: Int[Tensor, "batch hypotheses"], cache: BeamCache, tap: Tap = keep
    ) -> Float[Tensor, "batch hypotheses d_model"]:
        """Compute the decoder's states one token further, for hypotheses side by side on the query axis."""
        positions = torch.full((ids.shape[1],), cache.step, device=ids.device)
        cache.open_step()
        x = self._embed_target(ids, positions, cache.step, tap)
        for n, block in enumerate(self.decoder_blocks()):
            inner, append = scoped(tap, f"decoder.{n}"), partial(cache.append, n)
            x = block(x, cache.may_attend, positions, cache.source[n], cache.may_attend_source, inner, append)
        return tap("decoder.output", self.decoder_norm(x))

    def start_cache(self, memory: Memory, hypotheses: int) -> BeamCache:
        """Create an empty cache for a number of hypotheses per sentence."""
        return BeamCache(self.project_memory(memory), memory.may_attend, hypotheses)

    def project_memory(self, memory: Memory, tap: Tap = keep) -> list[KeyValue]:
        """Project the encoder's states to the keys and values of each decoder block, once per sentence."""
        return [
            block.cross_attention.key_value(
                memory.states, memory.positions, scoped(scoped(tap, f"decoder.{n}"), "cross_attention")
            )
            for n, block in enumerate(self.decoder_blocks())
        ]

    def decoder_blocks(self) -> Iterator[DecoderBlock]:
        """Iterate over the decoder's blocks, first to last."""
        return cast(Iterator[DecoderBlock], iter(self.decoder))

    def logits(self, states: Float[Tensor, "*batch d_model"], tap: Tap = keep) -> Float[Tensor, "*batch vocab_size"]:
        """Compute the logit of every target token after each state."""
        return tap("logits", self.output_embedding.logits(states))

    def _embed_target(self, ids: Tensor, positions: Tensor, count: int, tap: Tap) -> Tensor:
        rows = tap("embedding.target", self.target_embedding(ids))
        encoding = tap("embedding.target_position", self.target_position_encoding(positions, count))
        x: Tensor = self.embedding_dropout(rows + encoding)
        return x


def _attention(config: EncoderDecoderConfig, scheme: PositionScheme) -> Attention:
    heads = HeadConfig(config.n_heads, config.kv_heads, config.d_head, config.bias)
    frequencies = rotary_frequencies(config.d_head, config.rope_base)
    positions = build_attention_positions(scheme, config.n_heads, frequencies)
    return Attention(config.d_model, heads, config.bias, config.attention_dropout, positions)


def _feed_forward(config: EncoderDecoderConfig) -> nn.Module:
    return FEED_FORWARDS[config.activation](config.d_model, config.d_ff, config.bias)


def _residual(config: EncoderDecoderConfig) -> Residual:
    residual = PreNorm if config.norm_placement == "pre" else PostNorm
    return residual(NORMS[config.norm](config.d_model), config.dropout)


def _encoder_block(config: EncoderDecoderConfig) -> SelfAttentionBlock:
    attention = _attention(config, config.positions)
    return SelfAttentionBlock(attention, _feed_forward(config), lambda: _residual(config))


def _decoder_block(config: EncoderDecoderConfig) -> DecoderBlock:
    self_attention, cross_attention = _attention(config, config.positions), _attention(config, config.cross_positions)
    return DecoderBlock(self_attention, cross_attention, _feed_forward(config), lambda: _residual(config))

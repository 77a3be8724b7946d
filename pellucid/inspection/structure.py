"""Locate the parts of a model: the only module of this folder that tells the kinds of model apart."""

from collections.abc import Sequence
from typing import NamedTuple, cast

from torch import Tensor, nn

from pellucid.errors import UserError
from pellucid.layers.attention import Attention
from pellucid.layers.block import DecoderBlock, SelfAttentionBlock
from pellucid.layers.embeddings import TokenEmbedding
from pellucid.layers.positions import PositionEncoding
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.encoder_decoder import EncoderDecoder

__all__ = ["AttentionSite", "Stack", "attentions", "find_attention", "find_stack", "output_weight", "stacks"]


class Stack(NamedTuple):
    """A stack of blocks around one residual stream.

    Attributes:
        side: whose tokens it reads, source or target; the text of a language model is its target.
        embedding: of its tokens.
        position_encoding: what is added to the embeddings.
        blocks: first to last.
        norm: after the last block; the identity in a post-norm model.
        token_tap, position_tap: names of the two terms that the residual stream starts from.
        sublayers: of each block, in the order of a forward pass.
        pre_norm: whether norms stand before the sublayers, not after the sums.
    """

    name: str
    side: str
    embedding: TokenEmbedding
    position_encoding: PositionEncoding
    blocks: Sequence[SelfAttentionBlock | DecoderBlock]
    norm: nn.Module
    token_tap: str
    position_tap: str
    sublayers: tuple[str, ...]
    pre_norm: bool

    def sublayer_norm(self, layer: int, sublayer: str) -> nn.Module:
        """Return the norm before a sublayer, or after its sum in a post-norm model."""
        return cast(nn.Module, getattr(self.blocks[layer], f"{sublayer}_residual").norm)


class AttentionSite(NamedTuple):
    """An attention module and its place in the model, such as `decoder.1.cross_attention`.

    Attributes:
        stack, layer, sublayer: decoder, 1, cross_attention.
        module: the attention itself.
        query_side, key_side: whose tokens are its queries and keys, source or target.
    """

    stack: str
    layer: int
    sublayer: str
    module: Attention
    query_side: str
    key_side: str

    @property
    def name(self) -> str:
        """The full name."""
        return f"{self.stack}.{self.layer}.{self.sublayer}"


def stacks(model: nn.Module) -> tuple[Stack, ...]:
    """List the stacks of a model in the order of a forward pass."""
    if isinstance(model, EncoderDecoder):
        pre_norm = model.config.norm_placement == "pre"
        return (
            Stack(
                "encoder", "source", model.source_embedding, model.source_position_encoding,
                cast(Sequence[SelfAttentionBlock], list(model.encoder)), model.encoder_norm,
                "embedding.source", "embedding.source_position", ("self_attention", "feed_forward"), pre_norm,
            ),
            Stack(
                "decoder", "target", model.target_embedding, model.target_position_encoding,
                list(model.decoder_blocks()), model.decoder_norm,
                "embedding.target", "embedding.target_position",
                ("self_attention", "cross_attention", "feed_forward"), pre_norm,
            ),
        )  # fmt: skip
    if isinstance(model, DecoderOnly):
        return (
            Stack(
                "decoder", "target", model.embedding, model.position_encoding, list(model.blocks()), model.decoder_norm,
                "embedding.token", "embedding.position", ("self_attention", "feed_forward"),
                model.config.norm_placement == "pre",
            ),
        )  # fmt: skip
    raise TypeError(f"cannot inspect a {type(model).__name__}")


def find_stack(model: nn.Module, name: str) -> Stack:
    """Find a stack by name.

    Raises:
        UserError: if the model has none of that name.
    """
    found = {stack.name: stack for stack in stacks(model)}
    if name not in found:
        raise UserError(f"the model has no stack {name}", where=name, hint=f"It has {' and '.join(found)}.")
    return found[name]


def attentions(model: nn.Module) -> tuple[AttentionSite, ...]:
    """List the attention modules of a model in the order of a forward pass."""
    return tuple(
        AttentionSite(
            stack.name,
            layer,
            sublayer,
            getattr(block, sublayer),
            stack.side,
            "source" if sublayer == "cross_attention" else stack.side,
        )
        for stack in stacks(model)
        for layer, block in enumerate(stack.blocks)
        for sublayer in stack.sublayers
        if sublayer.endswith("attention")
    )


def find_attention(model: nn.Module, name: str) -> AttentionSite:
    """Find an attention module by its full name, such as `decoder.1.cross_attention`.

    Raises:
        UserError: if the model has none of that name.
    """
    found = {site.name: site for site in attentions(model)}
    if name not in found:
        raise UserError(
            f"the model has no attention {name}", where=name, hint=f"It has {', '.join(found)}; layers count from 0."
        )
    return found[name]


def output_weight(model: nn.Module) -> Tensor:
    """Return the output projection, from the last states to the logits, [vocab_size d_model]."""
    return cast(EncoderDecoder | DecoderOnly, model).output_embedding.weight

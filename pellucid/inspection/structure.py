"""Where the parts of a model are: the one place that knows what kinds of model there are."""

from collections.abc import Sequence
from typing import NamedTuple, cast

from torch import Tensor, nn

from pellucid.errors import UserError
from pellucid.layers.attention import Attention
from pellucid.layers.block import DecoderBlock, PreNorm, SelfAttentionBlock
from pellucid.layers.embeddings import TokenEmbedding
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.encoder_decoder import EncoderDecoder

__all__ = ["AttentionSite", "Stack", "attentions", "find_attention", "output_weight", "stack", "stacks"]


class Stack(NamedTuple):
    """A row of blocks around one residual stream.

    Attributes:
        name: encoder or decoder.
        side: whose tokens it reads: source or target (the only text of a language model is its target).
        embedding: the rows its tokens are looked up in.
        codes: what is added to them by position.
        blocks: first to last.
        norm: after the last block; the identity in a post-norm model.
        token_tap, position_tap: names of what its stream begins with.
        parts: of each block, in the order they are run.
        is_pre: whether its norms stand before the parts, not after the sums.
    """

    name: str
    side: str
    embedding: TokenEmbedding
    encodings: nn.Module
    blocks: Sequence[SelfAttentionBlock | DecoderBlock]
    norm: nn.Module
    token_tap: str
    position_tap: str
    parts: tuple[str, ...]
    is_pre: bool

    def around(self, layer: int, part: str) -> PreNorm:
        """Return the residual connection around a part."""
        return cast(PreNorm, getattr(self.blocks[layer], f"around_{part}"))


class AttentionSite(NamedTuple):
    """An attention and where it is: what a name such as `decoder.1.cross_attention` stands for.

    Attributes:
        stack, layer, part: decoder, 1, cross_attention.
        module: its weights.
        query_side, key_side: whose tokens look, and at whose.
    """

    stack: str
    layer: int
    part: str
    module: Attention
    query_side: str
    key_side: str

    @property
    def name(self) -> str:
        """Its full name."""
        return f"{self.stack}.{self.layer}.{self.part}"


def stacks(model: nn.Module) -> tuple[Stack, ...]:
    """Return the stacks of a model, in the order they are run."""
    if isinstance(model, EncoderDecoder):
        is_pre = model.config.norm_placement == "pre"
        return (
            Stack(
                "encoder", "source", model.source_embedding, model.source_position_encoding,
                cast(Sequence[SelfAttentionBlock], list(model.encoder)), model.encoder_norm,
                "embedding.source", "embedding.source_position", ("self_attention", "feed_forward"), is_pre,
            ),
            Stack(
                "decoder", "target", model.target_embedding, model.target_position_encoding,
                list(model.decoder_blocks()), model.decoder_norm,
                "embedding.target", "embedding.target_position",
                ("self_attention", "cross_attention", "feed_forward"), is_pre,
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
    raise TypeError(f"cannot look into a {type(model).__name__}")


def stack(model: nn.Module, name: str) -> Stack:
    """Return a stack by its name.

    Raises:
        UserError: if the model has none of that name.
    """
    found = {one.name: one for one in stacks(model)}
    if name not in found:
        raise UserError(f"the model has no stack {name}", where=name, hint=f"It has {' and '.join(found)}.")
    return found[name]


def attentions(model: nn.Module) -> tuple[AttentionSite, ...]:
    """Return all attentions of a model, in the order they are run."""
    found: list[AttentionSite] = []
    for one in stacks(model):
        for layer, block in enumerate(one.blocks):
            for part in one.parts:
                if part.endswith("attention"):
                    key_side = "source" if part == "cross_attention" else one.side
                    found.append(AttentionSite(one.name, layer, part, getattr(block, part), one.side, key_side))
    return tuple(found)


def find_attention(model: nn.Module, name: str) -> AttentionSite:
    """Return an attention by its full name.

    Raises:
        UserError: if the model has none of that name.
    """
    found = {one.name: one for one in attentions(model)}
    if name not in found:
        raise UserError(
            f"the model has no attention {name}", where=name, hint=f"It has {', '.join(found)}; layers count from 0."
        )
    return found[name]


def output_weight(model: nn.Module) -> Tensor:
    """Return the matrix that turns the last states into logits, [vocab_size d_model]."""
    return cast(EncoderDecoder | DecoderOnly, model).output_embedding.weight

"""A model of another program: its configuration, its weights under our names, its tokenizer."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from torch import Tensor

from pellucid.errors import UserError
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.decoder_only_config import DecoderOnlyConfig
from pellucid.models.weights import unique_weights
from pellucid.tokenizers.imported import SpecialIds

__all__ = ["ForeignConfig", "ForeignModel", "ForeignTensors", "ForeignTokenizer", "Layout", "convert_weights"]

ForeignTensors: TypeAlias = Mapping[str, Callable[[], Tensor]]
"""Functions that read the tensors of a file, by their names there."""

_BLOCK = re.compile(r"decoder\.(\d+)\.(.+)\.(weight|bias)")


@dataclass(frozen=True)
class Layout:
    """Names and layout of a decoder's weights in another program.

    Attributes:
        outside: our part → its name, for what stands outside the blocks.
        block: name of a block, with `{n}` for its number.
        inside: our part → its name in a block.
        transposed: their names of matrices stored as input × output.
        thirds: our parts that are one third each of a tensor: which.
        interleaved: whether rotary positions pair coordinates 2i and 2i + 1 of a head; ours pair i and i + d_head/2.
        ignored: names of tensors that hold nothing learned.
    """

    outside: Mapping[str, str]
    block: str
    inside: Mapping[str, str]
    transposed: frozenset[str] = frozenset()
    thirds: Mapping[str, int] = field(default_factory=dict)
    interleaved: bool = False
    ignored: re.Pattern[str] = re.compile("(?!)")


@dataclass(frozen=True)
class ForeignConfig:
    """The configuration of a model, as described by its files.

    Attributes:
        architecture: their name for it.
        config: the same as a model of ours.
        vocab_size: rows of the embedding.
        layout: how the weights are named.
        warnings: for the user.
    """

    architecture: str
    config: DecoderOnlyConfig
    vocab_size: int
    layout: Layout
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class ForeignTokenizer:
    """The tokenizer of a model, as described by its files.

    Attributes:
        content: what goes to tokenizer.json.
        special: which ids start and end a text.
        chat_template: how a conversation is written; None for a model that does not converse.
        warnings: for the user.
    """

    content: dict[str, Any]
    special: SpecialIds
    chat_template: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class ForeignModel:
    """A model in its original form: configuration, tensors by their own names, tokenizer.

    Attributes:
        name: what it calls itself.
        precision: number format of most of its weights.
    """

    name: str
    precision: str
    shape: ForeignConfig
    tensors: ForeignTensors
    text: ForeignTokenizer


def convert_weights(shape: ForeignConfig, tensors: ForeignTensors) -> Iterator[tuple[str, Tensor]]:
    """Convert every weight of the model to our name and layout.

    Raises:
        UserError: if a tensor is missing, has another shape than the model, or is none of the model's.
    """
    sought = _sought(shape, tensors)
    _refuse_unknown(shape, tensors, {theirs for theirs, _, _ in sought.values()})
    for ours, (theirs, expected, arranged) in sought.items():
        weight = arranged(tensors[theirs]())
        if weight.shape != expected:
            raise UserError(
                f"the tensor {theirs} does not fit the model: as {ours} its shape is {list(weight.shape)}, "
                f"expected {list(expected)}",
                where=theirs,
                hint="Copy or download the file again; its sizes contradict its configuration.",
            )
        if not torch.isfinite(weight.sum(dtype=torch.float64)):
            raise UserError(
                f"the tensor {theirs} contains NaN or infinity",
                where=theirs,
                hint="Copy or download the file again; it is damaged.",
            )
        yield ours, weight.contiguous()


_Arrange: TypeAlias = Callable[[Tensor], Tensor]


def _sought(shape: ForeignConfig, tensors: ForeignTensors) -> dict[str, tuple[str, torch.Size, _Arrange]]:
    """Find for each of our weights the tensor it comes from, its shape, and how it is rearranged."""
    _check_blocks(shape, tensors)
    with torch.device("meta"):  # shapes only, no memory
        model = DecoderOnly(shape.config, shape.vocab_size, None)
    sought = {}
    for ours, weight in unique_weights(model).items():
        theirs = _their_name(shape.layout, ours)
        if theirs not in tensors:
            raise UserError(
                f"the tensor {theirs} is missing, which holds {ours}",
                where=theirs,
                hint="The file may be cut off, or only a part of a model (an adapter, one of several files).",
            )
        sought[ours] = theirs, weight.shape, _arrangement(shape, ours, theirs)
    return sought


def _check_blocks(shape: ForeignConfig, tensors: ForeignTensors) -> None:
    """Reject a model with more blocks than there are tensors for, before it is built."""
    first = f"{shape.layout.block.format(n=shape.config.n_layers - 1)}."
    if not any(name.startswith(first) for name in tensors):
        raise UserError(
            f"the tensor {first}* is missing: the configuration says {shape.config.n_layers:,} blocks",
            where=f"{first}*",
            hint="The file may be cut off, or only a part of a model (an adapter, one of several files).",
        )


def _their_name(layout: Layout, ours: str) -> str:
    if match := _BLOCK.fullmatch(ours):
        number, part, kind = match.groups()
        return f"{layout.block.format(n=number)}.{layout.inside[part]}.{kind}"
    part, _, kind = ours.rpartition(".")
    return f"{layout.outside[part]}.{kind}"


def _arrangement(shape: ForeignConfig, ours: str, theirs: str) -> _Arrange:
    layout, config = shape.layout, shape.config
    part = _BLOCK.sub(r"\2", ours)
    steps: list[_Arrange] = []
    if ours.endswith(".weight") and any(theirs.endswith(f".{name}.weight") for name in layout.transposed):
        steps.append(lambda weight: weight.T)
    if part in layout.thirds:
        third = layout.thirds[part]
        steps.append(lambda weight: weight.chunk(3)[third] if len(weight) % 3 == 0 else weight)
    if layout.interleaved and part in ("self_attention.query", "self_attention.key"):
        heads = config.n_heads if part.endswith("query") else config.kv_heads
        steps.append(lambda weight: _halves(weight, heads))

    def arrange(weight: Tensor) -> Tensor:
        for step in steps:
            weight = step(weight)
        return weight

    return arrange


def _halves(weight: Tensor, heads: int) -> Tensor:
    """Move rows 2i and 2i + 1 of each head to i and i + d_head/2, in a matrix or a bias."""
    if len(weight) % (2 * heads):
        return weight  # of a wrong shape, which is told next
    halves: Tensor = weight.unflatten(0, (heads, -1, 2)).transpose(1, 2).flatten(0, 2)
    return halves


def _refuse_unknown(shape: ForeignConfig, tensors: ForeignTensors, used: Collection[str]) -> None:
    # A tied output matrix may be stored a second time.
    output = f"{shape.layout.outside['output_embedding']}.weight" if shape.config.tie_embeddings else ""
    left = [
        name for name in tensors if name not in used and name != output and not shape.layout.ignored.fullmatch(name)
    ]
    if left:
        raise UserError(
            f"{shape.architecture} has no tensor {left[0]}"
            + (f", nor {len(left) - 1} others of the file" if len(left) > 1 else ""),
            where=left[0],
            hint="Choose a model of a supported architecture; without this tensor the results would differ.",
        )

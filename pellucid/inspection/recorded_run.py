"""What a look holds: the tokens and the numbers of one run over one text, each number labelled."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeVar

import numpy
import torch
from torch import Tensor, nn

from pellucid.errors import UserError, did_you_mean
from pellucid.inspection.labelled_array import Array, Axis, LabelledArray, numbered_axis
from pellucid.inspection.recording import ModelInput, Recording
from pellucid.inspection.structure import AttentionSite, Stack, find_attention, stack, stacks
from pellucid.inspection.tap_table import tap_line
from pellucid.inspection.tokens import PieceSource, Token, labels, tokens_of

__all__ = ["WITHOUT_POSITIONS", "EncodedText", "InspectedModel", "RecordedRun", "labelled_rows", "token_side"]

WITHOUT_POSITIONS = "remove positions"  # among the edits of a look that had none

_TOKEN_AXES = ("source", "target", "query", "key")


@dataclass(frozen=True, eq=False)
class InspectedModel:
    """A model and what its ids stand for.

    Attributes:
        model: in evaluation mode.
        source_tokenizer: of what an encoder reads; None for a language model.
        target_tokenizer: of what the decoder reads and writes.
        alignment_heads: (layer, head) of the cross-attention heads that training guided to be alignments.
    """

    model: nn.Module
    source_tokenizer: PieceSource | None
    target_tokenizer: PieceSource
    alignment_heads: tuple[tuple[int, int], ...] = ()

    @cached_property
    def vocabulary(self) -> Axis:
        """All tokens that can be written, by id."""
        return _vocabulary(self.target_tokenizer, len(stacks(self.model)[-1].embedding.weight))

    @property
    def precision(self) -> str:
        """Number format of the weights and of the arithmetic, such as float32 or bfloat16."""
        return str(next(self.model.parameters()).dtype).removeprefix("torch.")

    @property
    def weights_version(self) -> int:
        """A number that grows when a weight is changed in place, as training does."""
        return sum(weight._version for weight in self.model.parameters() if not weight.is_inference())


class EncodedText(NamedTuple):
    """A text on its way through a model, as ids.

    Attributes:
        text: as it was given.
        source: what the encoder reads, end last; empty for a language model.
        target: what the decoder reads, start first.
        following: the token after each of `target`: what the model was to write there; one shorter if nobody knows
            what comes after the last.
        target_text: the target as a text.
        notes: what a reader should know of how the text was read.
    """

    text: str
    source: tuple[int, ...]
    target: tuple[int, ...]
    next_tokens: tuple[int, ...]
    target_text: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class RecordedRun:
    """The tokens and the numbers of one run over one text.

    Attributes:
        subject: the model.
        written: the text and its ids.
        source: tokens that the encoder read; none in a language model.
        target: tokens that the decoder read, ⟨start⟩ first.
        following: the token after each of `target`: row j of cross-attention is where the model looked to write it.
        arrays: every recorded number by its full name, without a batch axis.
        edits: what was changed on the way, in words; nothing in a plain look.
        weights_version: of the model when the numbers were recorded.
    """

    inspected: InspectedModel
    encoded: EncodedText
    source: tuple[Token, ...]
    target: tuple[Token, ...]
    next_tokens: tuple[Token, ...]
    arrays: dict[str, LabelledArray]
    edits: tuple[str, ...] = ()
    weights_version: int = 0

    @property
    def model(self) -> nn.Module:
        """The model that was looked into.

        Raises:
            UserError: if its weights were changed since: what is derived from them would not fit the numbers.
        """
        if self.inspected.weights_version != self.weights_version:
            raise UserError(
                "the model's weights have changed since this look was taken",
                where="look",
                hint="Look again; what was recorded stays readable by its name.",
            )
        return self.inspected.model

    @property
    def run(self) -> ModelInput:
        """The ids, as a model is given them."""
        return ModelInput([self.encoded.source] if self.encoded.source else [], [self.encoded.target])

    def require(self, *names: str) -> tuple[LabelledArray, ...]:
        """Return recorded numbers by their full names.

        Raises:
            UserError: for one that was not recorded.
        """
        for name in names:
            if name not in self.arrays:
                raise UserError(
                    f"{name} was not recorded",
                    where="look",
                    hint=f"Add it to what=[...]. {did_you_mean(name, self.arrays, '')}".rstrip(),
                )
        return tuple(self.arrays[name] for name in names)

    def tensor(self, name: str) -> Tensor:
        """Return a recorded number in float64 for exact sums, with a batch axis of one if the model has one."""
        (array,) = self.require(name)
        return torch.from_numpy(numpy.ascontiguousarray(array.values)).double()

    def stack(self, name: str) -> Stack:
        """Return a stack of the model."""
        return stack(self.model, name)

    def attention(self, name: str) -> AttentionSite:
        """Return an attention of the model by its full name: `decoder.1.cross_attention`."""
        return find_attention(self.model, name)

    def tokens_on(self, side: str) -> tuple[Token, ...]:
        """Return the tokens of the source or of the target."""
        return self.source if side == "source" else self.target

    def token_axis(self, name: str, side: str) -> Axis:
        """Return an axis with a place for each token of a side."""
        return Axis(name, labels(self.tokens_on(side)))

    def mask(self, name: str) -> Array:
        """Return where an attention may look: bool [query key]."""
        where = self.attention(name)
        keys, queries = len(self.tokens_on(where.key_side)), len(self.tokens_on(where.query_side))
        if where.stack == "decoder" and where.part == "self_attention":
            return numpy.tril(numpy.ones((queries, keys), dtype=bool))
        return numpy.ones((queries, keys), dtype=bool)


@lru_cache(maxsize=4)  # a second for a large vocabulary, and every look at a model has the same
def _vocabulary(tokenizer: PieceSource, count: int) -> Axis:
    return Axis("vocab_size", tuple(tokenizer.pieces_from_ids([i])[0].display for i in range(count)))


T = TypeVar("T", bound=RecordedRun)


def labelled_rows(
    kind: type[T],
    inspected: InspectedModel,
    rows: Sequence[EncodedText],
    recording: Recording,
    edits: tuple[str, ...] = (),
) -> list[T]:
    """Return a look for each row of a batch, without the padding that filled it up."""
    return [
        kind(
            inspected,
            encoded,
            tokens_of(inspected.source_tokenizer, encoded.source) if inspected.source_tokenizer else (),
            tokens_of(inspected.target_tokenizer, encoded.target),
            _following(inspected, encoded),
            _arrays_of_row(inspected, recording, number, encoded),
            edits,
            inspected.weights_version,
        )
        for number, encoded in enumerate(rows)
    ]


def _following(inspected: InspectedModel, encoded: EncodedText) -> tuple[Token, ...]:
    """Return the tokens to be written, their bytes and characters told by those before them."""
    whole = tokens_of(inspected.target_tokenizer, [*encoded.target[:1], *encoded.next_tokens])
    return tuple(token._replace(position=i) for i, token in enumerate(whole[1:]))


def _arrays_of_row(
    inspected: InspectedModel, recording: Recording, number: int, encoded: EncodedText
) -> dict[str, LabelledArray]:
    sides = {
        "source": labels(tokens_of(inspected.source_tokenizer, encoded.source)) if inspected.source_tokenizer else (),
        "target": labels(tokens_of(inspected.target_tokenizer, encoded.target)),
    }
    arrays = {}
    for name, values in recording.arrays.items():
        line = tap_line(inspected.model, name)
        axes = line.axes.split()
        if axes[0] == "batch" and len(axes) == values.ndim:
            values, axes = values[number], axes[1:]
        elif not values.ndim:  # the single 0 of a model without codes
            axes = []
        named = [_axis(inspected, name, axis, size, sides) for axis, size in zip(axes, values.shape, strict=True)]
        values = values[tuple(slice(len(axis.labels)) for axis in named)] if axes else values
        arrays[name] = LabelledArray(name, values, tuple(named), line.unit, line.meaning, recording.lines[name])
    return arrays


def _axis(inspected: InspectedModel, name: str, axis: str, size: int, sides: dict[str, tuple[str, ...]]) -> Axis:
    if axis == "vocab_size":
        return inspected.vocabulary
    if axis not in _TOKEN_AXES:
        return numbered_axis(axis, size)
    if axis in sides:
        return Axis(axis, sides[axis])
    return Axis(axis, sides[_side(name, axis)])


def token_side(model: nn.Module, name: str) -> str:
    """Return whose positions a number's last axis but one counts: source or target.

    Raises:
        UserError: if it counts no positions.
    """
    axis = tap_line(model, name).axes.split()[-2:][0]
    if axis not in _TOKEN_AXES:
        raise UserError(f"{name} has no positions, its axes are {tap_line(model, name).axes}", where=name)
    return axis if axis in ("source", "target") else _side(name, axis)


def _side(name: str, axis: str) -> str:
    reads_source = name.startswith("encoder.") or (axis == "key" and ".cross_attention." in name)
    return "source" if reads_source else "target"

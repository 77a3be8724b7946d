"""The recorded run of a model over one text: its tokens and its arrays, labelled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeVar

import numpy
import torch
from torch import Tensor, nn

from pellucid.errors import UserError, did_you_mean
from pellucid.inspection.labelled_array import Array, Axis, LabelledArray, numbered_axis
from pellucid.inspection.recording import ModelInput
from pellucid.inspection.structure import AttentionSite, Stack, find_attention, find_stack, stacks
from pellucid.inspection.taps import code_location, tap_info
from pellucid.inspection.tokens import Token, labels, tokens_of
from pellucid.tokenizers import LanguageTokenizer

__all__ = ["WITHOUT_POSITIONS", "InspectedModel", "RecordedRun", "TokenizedText", "label_rows", "token_side"]

WITHOUT_POSITIONS = "remove positions"  # how a run without positions describes its edit

_TOKEN_AXES = ("source", "target", "query", "key")


@dataclass(frozen=True, eq=False)
class InspectedModel:
    """A model and the tokenizers that give its ids a meaning.

    Attributes:
        model: in evaluation mode.
        source_tokenizer: of what an encoder reads; None for a language model.
        target_tokenizer: of what the decoder reads and writes.
        alignment_heads: (layer, head) of the cross-attention heads that were trained as alignments.
    """

    model: nn.Module
    source_tokenizer: LanguageTokenizer | None
    target_tokenizer: LanguageTokenizer
    alignment_heads: tuple[tuple[int, int], ...] = ()

    @cached_property
    def vocabulary(self) -> Axis:
        """All tokens that the model can write, by id."""
        return _vocabulary_axis(self.target_tokenizer, len(stacks(self.model)[-1].embedding.weight))

    @property
    def precision(self) -> str:
        """The dtype of weights and arithmetic, such as float32 or bfloat16."""
        return str(next(self.model.parameters()).dtype).removeprefix("torch.")

    @property
    def weights_version(self) -> int:
        """A counter that grows when a weight is changed in place, as training does."""
        return sum(weight._version for weight in self.model.parameters() if not weight.is_inference())


class TokenizedText(NamedTuple):
    """A text as the ids that a model reads.

    Attributes:
        text: as it was given.
        source: ids for the encoder, the end token last; empty for a language model.
        target: ids for the decoder, the start token first.
        next_tokens: the id after each of `target`, which the model predicts there; one shorter than `target` if nothing
            is known to follow the last.
        target_text: the target as text.
        notes: what to know about how the text was read.
    """

    text: str
    source: tuple[int, ...]
    target: tuple[int, ...]
    next_tokens: tuple[int, ...]
    target_text: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class RecordedRun:
    """The tokens and the arrays of one run over one text.

    Attributes:
        inspected: the model.
        encoded: the text and its ids.
        source: tokens that the encoder read; empty for a language model.
        target: tokens that the decoder read, ⟨start⟩ first.
        next_tokens: the token after each of `target`, which the model predicts there.
        arrays: every recorded array by its full name, without a batch axis.
        edits: descriptions of what was changed; empty for an unedited run.
        weights_version: of the model at the time of the run.
    """

    inspected: InspectedModel
    encoded: TokenizedText
    source: tuple[Token, ...]
    target: tuple[Token, ...]
    next_tokens: tuple[Token, ...]
    arrays: dict[str, LabelledArray]
    edits: tuple[str, ...] = ()
    weights_version: int = 0

    @property
    def model(self) -> nn.Module:
        """The model that ran.

        Raises:
            UserError: if its weights have changed since: quantities derived from them would not fit the recording.
        """
        if self.inspected.weights_version != self.weights_version:
            raise UserError(
                "the model's weights have changed since this look was taken",
                where="look",
                hint="Look again. The recorded arrays can still be read by name.",
            )
        return self.inspected.model

    @property
    def input(self) -> ModelInput:
        """The ids as the model was given them."""
        return ModelInput([self.encoded.source] if self.encoded.source else [], [self.encoded.target])

    def require(self, *names: str) -> tuple[LabelledArray, ...]:
        """Return recorded arrays by their full names.

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
        """Return a recorded array as a float64 tensor, for exact sums."""
        (array,) = self.require(name)
        return torch.from_numpy(numpy.ascontiguousarray(array.values)).double()

    def next_log_probs(self) -> Array:
        """Compute the log-probability of each next token from the recorded logits, [next_tokens]; nats."""
        log_probs = torch.from_numpy(self.require("logits")[0].values).double().log_softmax(-1)
        ids = torch.tensor(self.encoded.next_tokens, dtype=torch.int64)
        found: Array = log_probs[: len(ids)].gather(-1, ids[:, None])[:, 0].numpy()
        return found

    def stack(self, name: str) -> Stack:
        """Find a stack of the model by name."""
        return find_stack(self.model, name)

    def attention(self, name: str) -> AttentionSite:
        """Find an attention module by its full name, such as `decoder.1.cross_attention`."""
        return find_attention(self.model, name)

    def tokens_on(self, side: str) -> tuple[Token, ...]:
        """Return the tokens of the source or of the target."""
        return self.source if side == "source" else self.target

    def token_axis(self, name: str, side: str) -> Axis:
        """Build an axis with an entry for each token of a side."""
        return Axis(name, labels(self.tokens_on(side)))

    def next_token_axis(self) -> Axis:
        """Build an axis with an entry for each next token."""
        return Axis("next_tokens", labels(self.next_tokens))

    def mask(self, name: str) -> Array:
        """Return the mask of an attention, bool [query key]: True where a query may attend to a key."""
        site = self.attention(name)
        everywhere = numpy.ones((len(self.tokens_on(site.query_side)), len(self.tokens_on(site.key_side))), dtype=bool)
        is_causal = site.stack == "decoder" and site.sublayer == "self_attention"
        return numpy.tril(everywhere) if is_causal else everywhere


@lru_cache(maxsize=4)  # takes a second for a large vocabulary, and is the same for every look at a model
def _vocabulary_axis(tokenizer: LanguageTokenizer, count: int) -> Axis:
    return Axis("vocab_size", tuple(tokenizer.pieces_from_ids([i])[0].display for i in range(count)))


T = TypeVar("T", bound=RecordedRun)


def label_rows(
    kind: type[T],
    inspected: InspectedModel,
    texts: Sequence[TokenizedText],
    arrays: Mapping[str, Array],
    edits: tuple[str, ...] = (),
) -> list[T]:
    """Split the arrays of a batch into labelled runs, one for each text, without padding."""
    return [
        kind(
            inspected,
            text,
            tokens_of(inspected.source_tokenizer, text.source) if inspected.source_tokenizer else (),
            tokens_of(inspected.target_tokenizer, text.target),
            _next_tokens(inspected, text),
            _arrays_of_row(inspected, arrays, row, text),
            edits,
            inspected.weights_version,
        )
        for row, text in enumerate(texts)
    ]


def _next_tokens(inspected: InspectedModel, text: TokenizedText) -> tuple[Token, ...]:
    """Describe the next tokens; their bytes and characters depend on those before them."""
    tokens = tokens_of(inspected.target_tokenizer, [*text.target[:1], *text.next_tokens])
    return tuple(token._replace(position=i) for i, token in enumerate(tokens[1:]))


def _arrays_of_row(
    inspected: InspectedModel, arrays: Mapping[str, Array], row: int, text: TokenizedText
) -> dict[str, LabelledArray]:
    sides = {
        "source": labels(tokens_of(inspected.source_tokenizer, text.source)) if inspected.source_tokenizer else (),
        "target": labels(tokens_of(inspected.target_tokenizer, text.target)),
    }
    labelled = {}
    for name, values in arrays.items():
        info = tap_info(inspected.model, name)
        names = info.axes.split()
        if names[0] == "batch" and len(names) == values.ndim:
            values, names = values[row], names[1:]
        elif not values.ndim:  # the single 0 of a model that adds no positions
            names = []
        axes = tuple(_axis(inspected, name, axis, size, sides) for axis, size in zip(names, values.shape, strict=True))
        values = values[tuple(slice(len(axis.labels)) for axis in axes)] if axes else values
        location = code_location(inspected.model, name)
        labelled[name] = LabelledArray(name, values, axes, info.unit, info.meaning, location)
    return labelled


def _axis(inspected: InspectedModel, name: str, axis: str, size: int, sides: Mapping[str, tuple[str, ...]]) -> Axis:
    if axis == "vocab_size":
        return inspected.vocabulary
    if axis not in _TOKEN_AXES:
        return numbered_axis(axis, size)
    return Axis(axis, sides[_side(name, axis)])


def token_side(model: nn.Module, name: str) -> str:
    """Return whose positions the last axis but one of a tapped number has: source or target.

    Raises:
        UserError: if that axis has no positions.
    """
    axes = tap_info(model, name).axes
    axis = axes.split()[-2:][0]
    if axis not in _TOKEN_AXES:
        raise UserError(f"{name} has no positions, its axes are {axes}", where=name, hint="Leave the position out.")
    return _side(name, axis)


def _side(name: str, axis: str) -> str:
    if axis in ("source", "target"):
        return axis
    reads_source = name.startswith("encoder.") or (axis == "key" and ".cross_attention." in name)
    return "source" if reads_source else "target"

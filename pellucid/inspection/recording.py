"""Run a model once over texts and record its tensors: labelled arrays, one set for each text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeVar, cast

import numpy
import torch
from torch import Tensor, nn

from pellucid.errors import UserError, did_you_mean
from pellucid.free_memory import free_bytes
from pellucid.generation.batching import pad_rows
from pellucid.inspection.labelled_array import Array, Axis, LabelledArray, numbered_axis
from pellucid.inspection.structure import AttentionSite, Stack, find_attention, find_stack, stacks
from pellucid.inspection.taps import code_location, select_taps, tap_info
from pellucid.inspection.tokens import Token, labels, tokens_of
from pellucid.layers.taps import SelectiveTap, Tap, keep
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.tokenizers import LanguageTokenizer

__all__ = [
    "WITHOUT_POSITIONS",
    "Edit",
    "InspectedModel",
    "RecordedRun",
    "TokenizedText",
    "editing_tap",
    "label_rows",
    "padded_ids",
    "record",
    "record_run",
    "to_array",
    "token_side",
]

Edit = Callable[[str, Tensor], Tensor]
"""A tap that changes a tensor: given its full name and the tensor, returns what replaces it."""

MEMORY_SHARE = 0.7  # of the free memory, for one recording
WITHOUT_POSITIONS = "remove positions"  # how a run without positions describes its edit

_TOKEN_AXES = ("source", "target", "query", "key")


@dataclass(frozen=True, eq=False)
class InspectedModel:
    """A model and the tokenizers that give its ids a meaning.

    Attributes:
        source_tokenizer: of what an encoder reads; None for a language model.
        target_tokenizer: of what the decoder reads and writes.
        alignment_heads: (layer, head) of the cross-attention heads that were trained as alignments.
    """

    model: nn.Module
    source_tokenizer: LanguageTokenizer | None
    target_tokenizer: LanguageTokenizer
    alignment_heads: tuple[tuple[int, int], ...] = ()

    @property
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

    def tokenizer(self, side: str) -> LanguageTokenizer:
        """Return the tokenizer of the source or of the target."""
        tokenizer = self.source_tokenizer if side == "source" else self.target_tokenizer
        assert tokenizer is not None
        return tokenizer


@lru_cache(maxsize=4)  # takes a second for a large vocabulary, and is the same for every look at a model
def _vocabulary_axis(tokenizer: LanguageTokenizer, count: int) -> Axis:
    return Axis("vocab_size", tuple(tokenizer.pieces_from_ids([i])[0].display for i in range(count)))


class TokenizedText(NamedTuple):
    """A text as the ids that a model reads.

    Attributes:
        source: ids for the encoder, the end token last; empty for a language model.
        target: ids for the decoder, the start token first.
        next_tokens: the id after each of `target`, which the model predicts there; one shorter than `target` if nothing
            is known to follow the last.
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

    def require(self, *names: str) -> tuple[LabelledArray, ...]:
        """Return recorded arrays by their full names.

        Raises:
            UserError: for one that was not recorded.
        """
        for name in names:
            if name not in self.arrays:
                hint = f"Add it to what=[...]. {did_you_mean(name, self.arrays, '')}".rstrip()
                raise UserError(f"{name} was not recorded", where="look", hint=hint)
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


Run = TypeVar("Run", bound=RecordedRun)


def record_run(
    kind: type[Run],
    inspected: InspectedModel,
    text: TokenizedText,
    what: Sequence[str] | None = None,
    edits: Mapping[str, Edit] | None = None,
    descriptions: tuple[str, ...] = (),
) -> Run:
    """Run a model over one text; `record` describes the arguments, `descriptions` are those of the edits."""
    return label_rows(kind, inspected, [text], record(inspected.model, [text], what, edits), descriptions)[0]


def record(
    model: nn.Module,
    texts: Sequence[TokenizedText],
    what: Sequence[str] | None = None,
    edits: Mapping[str, Edit] | None = None,
) -> dict[str, Array]:
    """Run a model once, all positions at a time, and return the selected tensors by full name.

    Args:
        texts: a batch; shorter rows are padded at their end.
        what: names or patterns of taps; None records all of them.
        edits: tensors to replace, by full name; the recording holds the replacement.

    Returns:
        Arrays with a batch axis where the model has one; float32 unless the model's precision is higher.

    Raises:
        UserError: for a name that no tap has, or if the arrays do not fit into free memory.
    """
    names = select_taps(model, what)
    edits = edits or {}
    arrays: dict[str, Array] = {}
    available = MEMORY_SHARE * free_bytes(torch.device("cpu"))
    used = 0

    def tap(name: str, x: Tensor) -> Tensor:
        nonlocal used
        if name in edits:
            x = edits[name](name, x)
        if name in names:
            used += x.numel() * 4
            if used > available:
                raise UserError(
                    f"the recording does not fit into memory: it needs more than {used / 1e9:.1f} GB of the "
                    f"{available / 1e9:.1f} GB available",
                    where=name,
                    hint='Record fewer taps: what=["*.cross_attention.weights"]; docs/taps.md lists the names.',
                )
            arrays[name] = to_array(x)
        return x

    selective = SelectiveTap(names | edits.keys(), tap)
    ids = padded_ids(model, texts)
    with torch.inference_mode():
        if "logits" in selective.names:
            model(*ids, selective)
        elif isinstance(model, EncoderDecoder):
            source, target = ids
            model.decode(target, model.encode(source, selective), selective)
        else:
            (target,) = ids
            cast(DecoderOnly, model).states(target, selective)
    return arrays


def editing_tap(edits: Mapping[str, Edit]) -> Tap:
    """Build a tap that applies edits and leaves everything else unchanged; `keep` if there are none."""
    return SelectiveTap(edits, lambda name, x: edits[name](name, x)) if edits else keep


def to_array(x: Tensor) -> Array:
    """Copy a tensor to NumPy; float16 and bfloat16 are widened to float32, which changes no value."""
    x = x.detach()
    array: Array = (x if x.dtype == torch.float64 else x.float()).cpu().numpy()
    return array


def padded_ids(model: nn.Module, texts: Sequence[TokenizedText]) -> list[Tensor]:
    """Stack the ids of texts as a model takes them: those of the source, if it reads one, and those of the target."""
    filler, device = max(0, cast(int, model.pad_id)), next(model.parameters()).device
    sides = [[text.source for text in texts]] if isinstance(model, EncoderDecoder) else []
    return [pad_rows(rows, filler, device) for rows in (*sides, [text.target for text in texts])]


def label_rows(
    kind: type[Run],
    inspected: InspectedModel,
    texts: Sequence[TokenizedText],
    arrays: Mapping[str, Array],
    edits: tuple[str, ...] = (),
) -> list[Run]:
    """Split the arrays of a batch into labelled runs, one for each text, without padding."""
    runs = []
    for row, text in enumerate(texts):
        source = tokens_of(inspected.source_tokenizer, text.source) if inspected.source_tokenizer else ()
        target = tokens_of(inspected.target_tokenizer, text.target)
        # The bytes and characters of a token depend on those before it.
        following = tokens_of(inspected.target_tokenizer, [*text.target[:1], *text.next_tokens])[1:]
        next_tokens = tuple(token._replace(position=i) for i, token in enumerate(following))
        sides = {"source": labels(source), "target": labels(target)}
        labelled = {name: _label(inspected, name, values, row, sides) for name, values in arrays.items()}
        version = inspected.weights_version
        runs.append(kind(inspected, text, source, target, next_tokens, labelled, edits, version))
    return runs


def _label(
    inspected: InspectedModel, name: str, values: Array, row: int, sides: Mapping[str, tuple[str, ...]]
) -> LabelledArray:
    """Label one text's row of a recorded array, and cut off its padding."""
    info = tap_info(inspected.model, name)
    names = info.axes.split()
    if names[0] == "batch" and len(names) == values.ndim:
        values, names = values[row], names[1:]
    elif not values.ndim:  # the single 0 of a model that adds no positions
        names = []
    axes = tuple(_axis(inspected, name, axis, size, sides) for axis, size in zip(names, values.shape, strict=True))
    values = values[tuple(slice(len(axis.labels)) for axis in axes)] if axes else values
    return LabelledArray(name, values, axes, info.unit, info.meaning, code_location(inspected.model, name))


def _axis(inspected: InspectedModel, name: str, axis: str, size: int, sides: Mapping[str, tuple[str, ...]]) -> Axis:
    if axis == "vocab_size":
        return inspected.vocabulary
    return Axis(axis, sides[_side(name, axis)]) if axis in _TOKEN_AXES else numbered_axis(axis, size)


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

"""A look at a language model: what it reads, what it would write, and all numbers on the way."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, overload

import numpy
import torch

from pellucid.errors import UserError
from pellucid.inspection.labelled_array import LabelledArray
from pellucid.inspection.look import Look, LookBatch
from pellucid.inspection.recorded_run import InspectedModel, TokenizedText, label_rows
from pellucid.inspection.recording import Edit, ModelInput, editing_tap, record
from pellucid.inspection.stepwise import join_steps, record_steps
from pellucid.inspection.translators import numbers_of_step, texts_of
from pellucid.inspection.what_if import WhatIf
from pellucid.language_model import LanguageModel
from pellucid.plurals import pluralize

__all__ = [
    "DecoderDifference",
    "decoder_difference",
    "inspected_model",
    "look_at_language_model",
    "look_by_step",
    "read",
    "what_if_language_model",
]

WRITTEN = 20  # tokens that an edited model writes by itself


def inspected_model(model: LanguageModel) -> InspectedModel:
    """Return the network of a language model and what its ids stand for."""
    return InspectedModel(model.model, None, model.tokenizer)


@overload
def look_at_language_model(  # type: ignore[overload-overlap]  # a text is a sequence of texts to the type checker
    model: LanguageModel, text: str, *, tokens: int = 0, what: Sequence[str] | None = None
) -> Look: ...


@overload
def look_at_language_model(
    model: LanguageModel, text: Sequence[str], *, tokens: int = 0, what: Sequence[str] | None = None
) -> LookBatch: ...


def look_at_language_model(
    model: LanguageModel, text: str | Sequence[str], *, tokens: int = 0, what: Sequence[str] | None = None
) -> Look | LookBatch:
    """Run a language model over a text, or over several at once, and record its numbers.

    Args:
        model: any; numbers are those of the network in float32 or bfloat16, `decoder_difference` tells how far a faster
            decoder is from them.
        text: what is read, the start token before it where the model is used to one.
        tokens: how many tokens it shall first go on with, the most probable each time; these are looked at, too.
        what: which numbers to record, by names or patterns; all unless given.

    Raises:
        UserError: for a text without tokens, one that is longer than learned positions reach, a name that no tap has,
            or if the numbers do not fit into memory.
    """
    texts = texts_of(text)
    if not texts:
        raise UserError(
            "there is no text to look at",
            where="look",
            hint="Pass at least one text.",
        )
    rows = [read(model, one, tokens) for one in texts]
    inspected = inspected_model(model)
    recording = record(model.model, ModelInput([], [encoded.target for encoded in rows]), what)
    if isinstance(text, str):
        return label_rows(Look, inspected, rows, recording)[0]
    return LookBatch(inspected, rows, recording)


def look_by_step(
    model: LanguageModel, text: str, *, tokens: int = 0, what: Sequence[str] | None = None
) -> tuple[Look, list[dict[str, LabelledArray]]]:
    """Run a language model as generation does, token by token on a cache, and record every step.

    Args:
        model: any.
        text: what is read.
        tokens: how many tokens it shall go on with.
        what: which numbers to record.

    Returns:
        A look stitched together from the steps (a score whose key did not exist yet is NaN), and for each step its own
        numbers by name, with a single query.
    """
    encoded = read(model, text, tokens)
    steps = record_steps(model.model, ModelInput([], [encoded.target]), what)
    whole = label_rows(Look, inspected_model(model), [encoded], join_steps(steps))[0]
    return whole, [numbers_of_step(whole, step, i) for i, step in enumerate(steps)]


def read(model: LanguageModel, text: str, tokens: int = 0) -> TokenizedText:
    """Return a text as ids, and what the model goes on with.

    Raises:
        UserError: if there is nothing to read, or the text is longer than what is left of learned positions.
    """
    if not isinstance(text, str):
        raise UserError(
            "expected a text or a list of texts",
            where="look",
            hint="Pass one text as a string; look() takes a list.",
        )
    ids = model.prompt_ids(text)
    if tokens:
        ids = [*ids, *(token.id for token in model.generate(text, tokens=tokens, temperature=0.0).tokens)]
    notes: tuple[str, ...] = ()
    if len(ids) > model.context:
        said = f"the text has {pluralize(len(ids), 'token')}, the model's context {model.context:,}"
        if model.model.config.positions == "learned":
            raise UserError(said, where="look", hint="Look at a part of it: there are no positions beyond.")
        notes = (f"{said}: what stands beyond is outside of what it was trained for",)
    encoded = model.tokenizer.decode(ids) if tokens else text
    return TokenizedText(text, (), tuple(ids), tuple(ids[1:]), encoded, notes)


def what_if_language_model(model: LanguageModel, text: str) -> WhatIf:
    """Return a run over a text that can be edited: `what_if(...).mask_token(3).ablate_head(…, 2).run()`.

    Args:
        model: any.
        text: what is read, and whose probability is compared.
    """
    encoded = read(model, text)

    def writes(ids: Sequence[int], edits: Mapping[str, Edit]) -> str:
        return model.tokenizer.decode(_greedy(model, ids, edits))

    return WhatIf(inspected_model(model), encoded, None, writes, (), encoded.target)


class DecoderDifference(NamedTuple):
    """How far the decoder that generates is from the network that a look shows.

    Attributes:
        largest: difference of a logit, nats.
        same_choice: share of places where both find the same token most probable.
    """

    largest: float
    same_choice: float


def decoder_difference(model: LanguageModel, seen: Look) -> DecoderDifference:
    """Compare a look's logits with those of the decoder that generates, in its own precision, token by token.

    Args:
        model: that was looked at.
        seen: with the logits.
    """
    decoder = model.new_decoder()
    ids = list(seen.encoded.target)
    rows = [decoder.prefill([ids[:1]])[0].copy(), *(decoder.step([number])[0].copy() for number in ids[1:])]
    made = numpy.stack(rows)[:, : seen.logits.shape[1]]
    shown = seen.logits.values
    same = float((made.argmax(-1) == shown.argmax(-1)).mean())
    return DecoderDifference(float(numpy.abs(made - shown).max()), same)


@torch.inference_mode()
def _greedy(model: LanguageModel, ids: Sequence[int], edits: Mapping[str, Edit]) -> list[int]:
    """Go on with the most probable token each time, the whole text anew at every step: edits act as in a look."""
    network, tap = model.model, editing_tap(edits)
    whole = slice(None) if "logits" in edits else slice(-1, None)  # an edit of logits may mean any position
    device = network.embedding.weight.device
    encoded: list[int] = []
    most = model.context - len(ids) if network.config.positions == "learned" else WRITTEN
    while len(encoded) < min(WRITTEN, most):
        states = network.states(torch.tensor([[*ids, *encoded]], device=device), tap)
        best = int(network.logits(states[:, whole], tap)[0, -1].argmax())
        if best == model.tokenizer.end_id:
            break
        encoded.append(best)
    return encoded

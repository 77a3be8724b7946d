"""A look at a translator: what it reads, what it writes, and all numbers on the way."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, overload

import torch

from pellucid.errors import UserError
from pellucid.evaluation.pair_scores import encode_pair
from pellucid.generation.beam import Hypothesis, beam_search
from pellucid.generation.constraints import Constraints
from pellucid.generation.placeholders import has_all_placeholders
from pellucid.generation.text_splitting import Part
from pellucid.inspection.labelled_array import Array, LabelledArray
from pellucid.inspection.look import Look, LookBatch
from pellucid.inspection.recorded_run import InspectedModel, TokenizedText, label_rows
from pellucid.inspection.recording import Edit, ModelInput, editing_tap, record
from pellucid.inspection.stepwise import join_steps, record_steps
from pellucid.inspection.what_if import WhatIf
from pellucid.plurals import pluralize
from pellucid.translator import Translator

__all__ = [
    "Source",
    "inspected_model",
    "look_at_translator",
    "look_by_step",
    "numbers_of_step",
    "read",
    "read_source",
    "texts_of",
    "what_if_translator",
]


def inspected_model(translator: Translator) -> InspectedModel:
    """Return the model of a translator and what its ids stand for."""
    return InspectedModel(
        translator.model, translator.source_tokenizer, translator.target_tokenizer, translator.alignment_heads
    )


@overload
def look_at_translator(  # type: ignore[overload-overlap]  # a text is a sequence of texts to the type checker
    translator: Translator,
    text: str,
    *,
    target: str | None = None,
    prefix: str = "",
    what: Sequence[str] | None = None,
) -> Look: ...


@overload
def look_at_translator(
    translator: Translator,
    text: Sequence[str],
    *,
    target: str | Sequence[str] | None = None,
    prefix: str = "",
    what: Sequence[str] | None = None,
) -> LookBatch: ...


def look_at_translator(
    translator: Translator,
    text: str | Sequence[str],
    *,
    target: str | Sequence[str] | None = None,
    prefix: str = "",
    what: Sequence[str] | None = None,
) -> Look | LookBatch:
    """Run a translator over a text, or over several at once, and record its numbers.

    The decoder reads the whole target at once, as in training; `look.check()` compares that with the step-by-step path
    that translates.

    Args:
        translator: any.
        text: what is translated, taken whole.
        target: the translation that the decoder reads; the translator's own unless given. As many as there are texts.
        prefix: how its own translation must begin.
        what: which numbers to record, by names or patterns; all unless given.

    Raises:
        UserError: for a text without tokens, a name that no tap has, or if the numbers do not fit into memory.
    """
    texts = texts_of(text)
    targets = [target] * len(texts) if target is None or isinstance(target, str) else list(target)
    if len(targets) != len(texts):
        raise UserError(
            f"{pluralize(len(texts), 'text')}, but {pluralize(len(targets), 'target')}",
            where="look",
            hint="Pass one target for each text.",
        )
    if not texts:
        raise UserError(
            "there is no text to look at",
            where="look",
            hint="Pass at least one text.",
        )
    rows = [read(translator, one, theirs, prefix) for one, theirs in zip(texts, targets, strict=True)]
    inspected = inspected_model(translator)
    recording = record(translator.model, ModelInput([w.source for w in rows], [w.target for w in rows]), what)
    if isinstance(text, str):
        return label_rows(Look, inspected, rows, recording)[0]
    return LookBatch(inspected, rows, recording)


def texts_of(text: str | Sequence[str]) -> list[str]:
    """Return the texts to look at, one or several.

    Raises:
        UserError: for what is no text.
    """
    if not isinstance(text, str) and not isinstance(text, Iterable):
        raise UserError(
            f"expected a text or a list of texts, got {text!r}",
            where="look",
            hint="Pass a string, or a list of strings.",
        )
    return [text] if isinstance(text, str) else list(text)


def look_by_step(
    translator: Translator, text: str, *, target: str | None = None, what: Sequence[str] | None = None
) -> tuple[Look, list[dict[str, LabelledArray]]]:
    """Run a translator as generation does, token by token on a cache, and record every step.

    Args:
        translator: any.
        text: what is translated.
        target: what is written, token by token; its own translation unless given.
        what: which numbers to record.

    Returns:
        A look stitched together from the steps (a score whose key did not exist yet is NaN), and for each step its own
        numbers by name, with a single query.
    """
    rows = [read(translator, text, target)]
    inspected = inspected_model(translator)
    steps = record_steps(translator.model, ModelInput([rows[0].source], [rows[0].target]), what)
    whole = label_rows(Look, inspected, rows, join_steps(steps))[0]
    return whole, [numbers_of_step(whole, step, i) for i, step in enumerate(steps)]


def numbers_of_step(whole: Look, step: Mapping[str, Array], number: int) -> dict[str, LabelledArray]:
    """Cut one step out of a stitched recording: its query and the keys that it had."""
    names = [name for name in step if name.startswith(("decoder.", "logits"))]
    return {name: _step_of(whole.arrays[name], number) for name in names}


class Source(NamedTuple):
    """What a translator reads of a text.

    Attributes:
        ids: the end token last.
        part: the stretch that it is; None if translating would cut the text into several.
        notes: what a reader should know of how it is read.
    """

    ids: Sequence[int]
    part: Part | None
    notes: tuple[str, ...]


def read_source(translator: Translator, text: str) -> Source:
    """Return the ids that a translator reads of a text, taken whole.

    Raises:
        UserError: if the text has no tokens.
    """
    if not isinstance(text, str):
        raise UserError(
            "expected a text or a list of texts",
            where="look",
            hint="Pass a string, or a list of strings.",
        )
    parts = translator.text_splitter(translator.config).split(text).parts
    if not any(part.ids for part in parts):
        raise UserError("there is nothing to translate in the text", where="look", hint="Give it a word at least.")
    if len(parts) == 1:
        return Source(parts[0].ids, parts[0], ())
    note = f"read whole; translating cuts it into {len(parts)} parts, each translated alone"
    return Source((*translator.source_tokenizer.encode(text), translator.source_tokenizer.end_id), None, (note,))


def read(translator: Translator, text: str, target: str | None = None, prefix: str = "") -> TokenizedText:
    """Return a text and its translation as ids, as the translator itself would read and write them.

    Args:
        translator: any.
        text: taken whole, even where translating would cut it at sentence ends; a note then says so.
        target: the translation; its own unless given.
        prefix: how its own must begin.

    Raises:
        UserError: if the text has no tokens.
    """
    source = read_source(translator, text)
    start, end = translator.special_tokens.start_id, translator.special_tokens.end_id
    if target is not None:
        pair, wanted = encode_pair(translator, text, target)
        return TokenizedText(text, tuple(pair), (start, *wanted[:-1]), tuple(wanted), target, source.notes)
    ids, best = _own_translation(translator, source, prefix)
    text_of = translator.target_tokenizer.decode(best.ids)
    if best.ended:
        return TokenizedText(text, tuple(ids), (start, *best.ids), (*best.ids, end), text_of, source.notes)
    cut = f"its translation was cut at the longest length, {pluralize(len(best.ids), 'token')}"
    return TokenizedText(text, tuple(ids), (start, *best.ids[:-1]), best.ids, text_of, (*source.notes, cut))


def _own_translation(translator: Translator, source: Source, prefix: str) -> tuple[Sequence[int], Hypothesis]:
    """Find the text that the translator finally reads, and its translation."""
    begin = translator.target_tokenizer.encode(prefix) if prefix else []

    def searched(ids: Sequence[int]) -> Hypothesis:
        return beam_search(translator.model, [ids], translator.special_tokens, translator.config, [begin])[0][0]

    best, part = searched(source.ids), source.part
    if (
        part is None
        or not part.numbered
        or has_all_placeholders(part.protected, translator.target_tokenizer.decode_segments(best.ids))
    ):
        return source.ids, best
    # As in translating: once more, without showing the model the placeholders it lost.
    bare = translator.text_splitter(translator.config).part(part.source, numbered=False).ids
    return bare, searched(bare)


def what_if_translator(translator: Translator, text: str, *, target: str | None = None) -> WhatIf:
    """Return a run over a text that can be edited: `what_if(...).mask_token(3).ablate_head(…, 2).run()`.

    Args:
        translator: any.
        text: what is translated.
        target: whose probability is compared; its own translation unless given.
    """
    encoded = read(translator, text, target)

    def writes(source: Sequence[int], edits: Mapping[str, Edit]) -> str:
        return translator.target_tokenizer.decode(_greedy(translator, source, edits))

    return WhatIf(
        inspected_model(translator),
        encoded,
        lambda other: read_source(translator, other).ids,
        writes,
        encoded.source,
        encoded.target,
    )


@torch.inference_mode()
def _greedy(translator: Translator, source: Sequence[int], edits: Mapping[str, Edit]) -> list[int]:
    """Write the most probable token each time, the whole target anew at every step: so every edit acts as in a look."""
    model, special_tokens, tap = translator.model, translator.special_tokens, editing_tap(edits)
    whole = slice(None) if "logits" in edits else slice(-1, None)  # an edit of logits may mean any position
    ids = torch.tensor([list(source)], device=model.target_embedding.weight.device)
    most = model.config.max_positions if model.config.positions == "learned" else None
    limits = Constraints.of(ids, special_tokens, translator.config, [()], most)
    memory = model.encode(ids, tap)
    encoded: list[int] = []
    while len(encoded) < int(limits.longest[0]):
        target = torch.tensor([[special_tokens.start_id, *encoded]], device=ids.device)
        logits = model.logits(model.decode(target, memory, tap)[:, whole], tap)[:, -1:].float()
        limits.apply(logits, target[:, None, 1:])
        best = int(logits.argmax())
        if best == special_tokens.end_id:
            break
        encoded.append(best)
    return encoded


def _step_of(array: LabelledArray, step: int) -> LabelledArray:
    """Return the part of a stitched number that one step made: its query, and the keys there were."""
    names = [axis.name for axis in array.axes]
    query = next((names.index(name) for name in ("query", "target") if name in names), None)
    index: list[slice] = [slice(None)] * len(names)
    if query is not None:
        index[query] = slice(step, step + 1)
    if "key" in names and ".self_attention." in array.name:
        index[names.index("key")] = slice(0, step + 1) if query is not None else slice(step, step + 1)
    return array[tuple(index)]

"""Run a model over texts and record its numbers: all positions at a time, step by step, or edited."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from pellucid.errors import UserError
from pellucid.generation.text_model import TextModel
from pellucid.generation.translation_model import TranslationModel
from pellucid.inspection.edited_generation import write_continuation, write_translation
from pellucid.inspection.encoding import encode_source, encode_text, encode_translation, inspect_network
from pellucid.inspection.labelled_array import LabelledArray
from pellucid.inspection.look import Look, LookBatch
from pellucid.inspection.recording import TokenizedText, label_rows
from pellucid.inspection.stepwise import join_steps, record_steps
from pellucid.inspection.what_if import WhatIf
from pellucid.plurals import pluralize

__all__ = [
    "look_at_language_model",
    "look_at_translator",
    "look_by_step",
    "what_if_language_model",
    "what_if_translator",
]


def look_at_translator(
    model: TranslationModel,
    text: str | Sequence[str],
    *,
    target: str | Sequence[str] | None = None,
    prefix: str = "",
    what: Sequence[str] | None = None,
) -> Look | LookBatch:
    """Run a translator over a text, or over several in one batch, and record its numbers.

    The decoder reads the whole target at once, as in training. `look.check()` compares the result with the step-by-step
    path that translates.

    Args:
        text: the source, read as one piece.
        target: the translation that the decoder reads; the model's own unless given. One for each text.
        prefix: how the model's own translation must begin.
        what: names or patterns of the taps to record; all of them unless given.

    Raises:
        UserError: for a text without tokens, a name that no tap has, or if the arrays do not fit into memory.
    """
    texts = _texts_of(text)
    targets = [target] * len(texts) if target is None or isinstance(target, str) else list(target)
    if len(targets) != len(texts):
        raise UserError(
            f"{pluralize(len(texts), 'text')}, but {pluralize(len(targets), 'target')}",
            where="target",
            hint="Give one target for each text.",
        )
    encoded = [
        encode_translation(model, one, its_target, prefix) for one, its_target in zip(texts, targets, strict=True)
    ]
    return _look_at(model, text, encoded, what)


def look_at_language_model(
    model: TextModel, text: str | Sequence[str], *, tokens: int = 0, what: Sequence[str] | None = None
) -> Look | LookBatch:
    """Run a language model over a text, or over several in one batch, and record its numbers.

    The numbers are those of the network in its own precision; `checks.decoder_difference` compares a compiled decoder
    with them.

    Args:
        text: what it reads, after the start token if the model has one.
        tokens: how many tokens to generate first, the most probable at each step; the look includes them.
        what: names or patterns of the taps to record; all of them unless given.

    Raises:
        UserError: for a text without tokens, one longer than the model's learned positions, a name that no tap has, or
            if the arrays do not fit into memory.
    """
    return _look_at(model, text, [encode_text(model, one, tokens) for one in _texts_of(text)], what)


def look_by_step(
    model: TranslationModel | TextModel, encoded: TokenizedText, what: Sequence[str] | None = None
) -> tuple[Look, list[dict[str, LabelledArray]]]:
    """Run a model as generation does, token by token on a cache, and record every step.

    Args:
        encoded: the text, by `encode_translation` or `encode_text`.
        what: names or patterns of the taps to record; all of them unless given.

    Returns:
        A look joined from all steps (a score whose key did not exist yet is NaN), and the arrays of each step by name,
        with a single query.
    """
    steps = record_steps(model.model, encoded, what)
    (whole,) = label_rows(Look, inspect_network(model), [encoded], join_steps(steps))
    return whole, [
        {name: _slice_step(whole.arrays[name], number) for name in step if name.startswith(("decoder.", "logits"))}
        for number, step in enumerate(steps)
    ]


def what_if_translator(model: TranslationModel, text: str, *, target: str | None = None) -> WhatIf:
    """Prepare a run that can be edited: `what_if(...).mask_token(3).ablate_head(…, 2).run()`.

    The probability of the target is compared; it is the model's own translation unless given.
    """
    encoded = encode_translation(model, text, target)
    write = partial(write_translation, model)
    return WhatIf(inspect_network(model), encoded, partial(encode_source, model), write, encoded)


def what_if_language_model(model: TextModel, text: str) -> WhatIf:
    """Prepare a run that can be edited: `what_if(...).mask_token(3).ablate_head(…, 2).run()`."""
    encoded = encode_text(model, text)
    return WhatIf(inspect_network(model), encoded, None, partial(write_continuation, model), encoded)


def _look_at(
    model: TranslationModel | TextModel,
    text: str | Sequence[str],
    encoded: Sequence[TokenizedText],
    what: Sequence[str] | None,
) -> Look | LookBatch:
    batch = LookBatch(inspect_network(model), encoded, what)
    return batch[0] if isinstance(text, str) else batch


def _texts_of(text: object) -> list[Any]:
    texts = list(text) if isinstance(text, Iterable) and not isinstance(text, str) else [text]
    if not texts:
        raise UserError("there is no text to look at", where="look", hint="Pass one text at least.")
    return texts


def _slice_step(array: LabelledArray, step: int) -> LabelledArray:
    """Cut out what one step computed: its query, and the keys that existed."""
    names = [axis.name for axis in array.axes]
    query = next((names.index(name) for name in ("query", "target") if name in names), None)
    index: list[slice] = [slice(None)] * len(names)
    if query is not None:
        index[query] = slice(step, step + 1)
    if "key" in names and ".self_attention." in array.name:
        index[names.index("key")] = slice(0, step + 1) if query is not None else slice(step, step + 1)
    return array[tuple(index)]

"""Encode a text, and what a model writes for it, as the ids that the model reads."""

from collections.abc import Sequence
from typing import NamedTuple

from pellucid.errors import UserError
from pellucid.evaluation.pair_scores import encode_pair
from pellucid.generation.beam import Hypothesis, beam_search
from pellucid.generation.generate import Prompt, generate_texts
from pellucid.generation.text_model import TextModel
from pellucid.generation.text_splitting import Part
from pellucid.generation.translate import search
from pellucid.generation.translation_model import TranslationModel
from pellucid.inspection.recording import InspectedModel, TokenizedText
from pellucid.plurals import pluralize

__all__ = ["SourceText", "encode_source", "encode_text", "encode_translation", "inspect_network"]


class SourceText(NamedTuple):
    """The source that an encoder reads.

    Attributes:
        ids: the end token last.
        part: the same as a part for the search; None if translating would split the text.
        notes: what to know about how the text is read.
    """

    ids: Sequence[int]
    part: Part | None
    notes: tuple[str, ...]


def inspect_network(model: TranslationModel | TextModel) -> InspectedModel:
    """Collect what a look needs of a model: the network and the tokenizers."""
    if isinstance(model, TranslationModel):
        return InspectedModel(model.model, model.source_tokenizer, model.target_tokenizer, model.alignment_heads)
    return InspectedModel(model.model, None, model.tokenizer)


def encode_source(model: TranslationModel, text: str) -> SourceText:
    """Encode the source of a translation as one piece, even where translating would split it at sentence ends.

    Raises:
        UserError: if the text has no tokens.
    """
    _require_text(text)
    parts = model.text_splitter(model.config).split(text).parts
    if not any(part.ids for part in parts):
        raise UserError("the text has nothing to translate", where="look", hint="Give it at least one word.")
    if len(parts) == 1:
        return SourceText(parts[0].ids, parts[0], ())
    note = f"read as one piece; translating splits it into {len(parts)} parts, each translated alone"
    return SourceText((*model.source_tokenizer.encode(text), model.source_tokenizer.end_id), None, (note,))


def encode_translation(
    model: TranslationModel, text: str, target: str | None = None, prefix: str = ""
) -> TokenizedText:
    """Encode a text and its translation.

    Args:
        text: the source, read as one piece; a note says so where translating would split it.
        target: the translation; the model's own unless given.
        prefix: how the model's own translation must begin.

    Raises:
        UserError: if the text has no tokens.
    """
    source = encode_source(model, text)
    start, end = model.special_tokens.start_id, model.special_tokens.end_id
    notes, read_ids = source.notes, source.ids
    if target is not None:
        read_ids, next_tokens = encode_pair(model, text, target)
    else:
        read_ids, best = _translate(model, source, prefix)
        target, next_tokens = model.target_tokenizer.decode(best.ids), [*best.ids, *([end] if best.ended else [])]
        if not best.ended:
            length = pluralize(len(best.ids), "token")
            notes = (*notes, f"its translation was truncated at the maximum length, {length}")
    return TokenizedText(text, tuple(read_ids), (start, *next_tokens[:-1]), tuple(next_tokens), target, notes)


def encode_text(model: TextModel, text: str, tokens: int = 0) -> TokenizedText:
    """Encode a text for a language model, with tokens that the model adds to it.

    Args:
        tokens: how many tokens to generate after it, the most probable at each step.

    Raises:
        UserError: if there is nothing to read, or the text is longer than the model's learned positions.
    """
    _require_text(text)
    ids = model.prompt_ids(text)
    if tokens:
        config = model.settings(tokens=tokens, temperature=0.0)
        (generation,) = generate_texts(model, [Prompt(text, ids)], config)
        ids = [*ids, *(token.id for token in generation.tokens)]
    notes: tuple[str, ...] = ()
    if len(ids) > model.context:
        longer = f"the text has {pluralize(len(ids), 'token')}, the model's context {model.context:,}"
        if model.model.config.position_limit is not None:
            raise UserError(longer, where="look", hint="Look at a part of it: the model has learned no more positions.")
        notes = (f"{longer}: the model was not trained on texts of this length",)
    return TokenizedText(text, (), tuple(ids), tuple(ids[1:]), model.tokenizer.decode(ids) if tokens else text, notes)


def _require_text(text: object) -> None:
    if not isinstance(text, str):
        raise UserError(
            f"expected a text or a list of texts, got {text!r}", where="look", hint="Pass a str or a list of str."
        )


def _translate(model: TranslationModel, source: SourceText, prefix: str) -> tuple[Sequence[int], Hypothesis]:
    """Translate a source; returns its ids as the model read them in the end, and the best hypothesis."""
    prefixes = [model.target_tokenizer.encode(prefix) if prefix else []]
    if source.part is None:
        ((best, *_),) = beam_search(model.model, [source.ids], model.special_tokens, model.config, prefixes)
        return source.ids, best
    (result,) = search(model, [source.part], model.config, prefixes)
    return result.part.ids, result.n_best[0]

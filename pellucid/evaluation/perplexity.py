"""How well a language model predicts texts: loss per token, perplexity, bits per byte."""

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from pellucid.corpus.documents import Document
from pellucid.errors import UserError
from pellucid.generation.text_model import TextModel, begin_ids
from pellucid.generation.text_score import ScoringInput, TextScore, score_ids, score_tokens
from pellucid.tokenizers import Tokenizer

__all__ = ["TextLoss", "measure_texts", "score_texts", "scores_end_tokens"]

_PASSAGES = 64  # whose windows are batched together


class TextLoss(NamedTuple):
    """The loss of a model on some documents.

    Attributes:
        loss: nats per token; its exponential is the perplexity. Tokens differ between models: compare these two only
            between models with the same tokenizer.
        bits_per_byte: of the documents' text in UTF-8; comparable between all models.
        tokens: number of predicted tokens; start tokens and prompts are given, not predicted.
        bytes: of the text that these tokens stand for.
        context: tokens read at once.
        stride: distance of the windows over longer documents, tokens.
        ends: whether the end token of each document is predicted, too.
    """

    loss: float
    perplexity: float
    bits_per_byte: float
    tokens: int
    bytes: int
    documents: int
    context: int
    stride: int
    ends: bool


class _Passage(NamedTuple):
    """A part of a document, as much as is read from the file at once, after what is given before it."""

    scoring: ScoringInput
    bytes: int
    begins: bool
    ends: bool


def scores_end_tokens(model: TextModel) -> bool:
    """Check whether the end of a document is a token to predict: for models trained here, whose documents all end."""
    return isinstance(model.tokenizer, Tokenizer)


def measure_texts(
    model: TextModel,
    documents: Iterable[Document],
    *,
    stride: int | None = None,
    on_progress: Callable[[int], object] = lambda tokens: None,
) -> TextLoss:
    """Measure how well a model predicts documents, each from its beginning or after its prompt.

    Args:
        documents: long ones in parts, see `read_documents`.
        stride: of the windows over what is longer than the context, tokens; half the context by default. Every token is
            predicted once, from at least context − stride tokens before it, where there are so many.
        on_progress: called with the number of tokens measured since the last call.

    Raises:
        UserError: if there is no text, or for an invalid stride.
    """
    stride, ends = model.checked_stride(stride), scores_end_tokens(model)
    total, tokens, size, count = 0.0, 0, 0, 0
    passages = _read_passages(model, documents, ends)
    while chunk := list(islice(passages, _PASSAGES)):
        found = score_tokens(model.model, [passage.scoring for passage in chunk], model.window, stride)
        for passage, log_probs in zip(chunk, found, strict=True):
            total += sum(log_probs)
            tokens += len(log_probs)
            size += passage.bytes
            count += passage.begins
        on_progress(sum(len(passage.scoring.ids) - passage.scoring.first for passage in chunk))
    if not size:
        raise UserError("there is no text to measure", where="documents", hint="Name files that contain text.")
    loss = -total / tokens
    perplexity = math.exp(min(loss, math.log(1e300)))
    return TextLoss(loss, perplexity, -total / math.log(2) / size, tokens, size, count, model.context, stride, ends)


def score_texts(model: TextModel, documents: Iterable[Document], *, stride: int | None = None) -> Iterator[TextScore]:
    """Yield the log-probability of each document, in order, token by token; after its prompt, if it has one.

    The arguments are those of `measure_texts`.

    Raises:
        UserError: for an invalid stride.
    """
    stride = model.checked_stride(stride)
    total, tokens = 0.0, list[Any]()
    for passage in _read_passages(model, documents, scores_end_tokens(model)):
        found = score_ids(model, passage.scoring, stride)
        total, tokens = total + found.total, tokens + list(found.tokens)
        if passage.ends:
            yield TextScore(total, tuple(tokens))
            total, tokens = 0.0, []


def _read_passages(model: TextModel, documents: Iterable[Document], ends: bool) -> Iterator[_Passage]:
    """Encode documents as in training, a prompt separately from its completion."""
    tokenizer, sinks = model.tokenizer, model.window.sink_tokens
    before: list[int] = []
    for document in documents:
        if document.begins:
            given = tokenizer.encode(document.prompt) if document.prompt else []
            before = [*begin_ids(tokenizer, always=not given), *given]
        inside = bool(document.prompt) or not document.begins
        ids = tokenizer.encode_continuation(document.text) if inside else tokenizer.encode(document.text)
        if document.ends and ends and tokenizer.end_id is not None:
            ids.append(tokenizer.end_id)
        read = [*before, *ids]
        size = len(document.text.encode("utf-8"))
        yield _Passage(ScoringInput(read, len(before)), size, document.begins, document.ends)
        before = read[:sinks] + read[sinks:][-model.context :]

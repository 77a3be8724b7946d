"""How well a language model predicts texts: nats a token, perplexity, bits per byte."""

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from pellucid.corpus.documents import Document
from pellucid.errors import UserError
from pellucid.generation.text_score import ScoringInput, TextScore, score_tokens
from pellucid.language_model import LanguageModel
from pellucid.tokenizers import Tokenizer

__all__ = ["TextLoss", "measure_texts", "score_texts", "scores_end_tokens"]

_AT_ONCE = 64  # parts of documents whose windows are sorted by length among each other


class TextLoss(NamedTuple):
    """The loss of a model on some documents.

    Attributes:
        loss: nats a token; the exponential of it is the perplexity. Tokens differ between models: compare these two
            only where the tokenizer is the same.
        bits_per_byte: of the documents' text in UTF-8; comparable between all models.
        tokens: that were predicted; the starts and prompts were given, not predicted.
        bytes: of the text that they write.
        documents: how many.
        context: tokens that were read at once.
        stride: how far apart the windows over longer documents were.
        ends: whether the end of each document counts as a token.
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

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return self._asdict()


class _Passage(NamedTuple):
    """A part of a document, as much as comes at once, behind what is given before it."""

    reading: ScoringInput
    bytes: int
    begins: bool
    ends: bool


def scores_end_tokens(model: LanguageModel) -> bool:
    """Tell whether the end of a document is a token to predict: of models trained here, whose documents all end."""
    return isinstance(model.tokenizer, Tokenizer)


def measure_texts(
    model: LanguageModel,
    documents: Iterable[Document],
    *,
    stride: int | None = None,
    on_progress: Callable[[int], object] = lambda tokens: None,
) -> TextLoss:
    """Measure how well a model predicts documents, each from its beginning; given a prompt, what follows it.

    Args:
        model: the model.
        documents: long ones in parts, see `read_documents`.
        stride: of the windows over what is longer than the context, tokens; half the context unless given. Every token
            is predicted once, from at least context − stride tokens before it, where there are so many.
        on_progress: called with the number of tokens measured since the last call.

    Raises:
        UserError: if there is nothing to measure, or the stride does not fit.
    """
    stride, ends = model.checked_stride(stride), scores_end_tokens(model)
    total, tokens, size, count = 0.0, 0, 0, 0
    passages = _passages(model, documents, ends)
    while chunk := list(islice(passages, _AT_ONCE)):
        for passage, log_probs in zip(
            chunk, score_tokens(model.model, [one.reading for one in chunk], model.window, stride), strict=True
        ):
            total += sum(log_probs)
            tokens += len(log_probs)
            size += passage.bytes
            count += passage.begins
        on_progress(sum(len(one.reading.ids) - one.reading.first for one in chunk))
    if not size:
        raise UserError("there is nothing to measure", hint="Name files with text in them.")
    loss = -total / tokens
    perplexity = math.exp(min(loss, math.log(1e300)))
    return TextLoss(loss, perplexity, -total / math.log(2) / size, tokens, size, count, model.context, stride, ends)


def score_texts(
    model: LanguageModel, documents: Iterable[Document], *, stride: int | None = None
) -> Iterator[TextScore]:
    """Yield how probable each document is, in order, token by token; given a prompt, what follows it.

    Args:
        model: the model.
        documents: long ones in parts.
        stride: as for `measure_texts`.

    Raises:
        UserError: if the stride does not fit.
    """
    stride = model.checked_stride(stride)
    total, tokens = 0.0, list[Any]()
    for passage in _passages(model, documents, scores_end_tokens(model)):
        found = model.score_ids(passage.reading, stride)
        total, tokens = total + found.total, tokens + list(found.tokens)
        if passage.ends:
            yield TextScore(total, tuple(tokens))
            total, tokens = 0.0, []


def _passages(model: LanguageModel, documents: Iterable[Document], ends: bool) -> Iterator[_Passage]:
    """Yield documents as they are read: as training has them, a prompt and its completion encoded apart."""
    tokenizer = model.tokenizer
    before: list[int] = []
    for document in documents:
        if document.begins:
            given = tokenizer.encode(document.prompt) if document.prompt else []
            before = [*model.begin_ids(always=not given), *given]
        inside = bool(document.prompt) or not document.begins
        ids = tokenizer.encode_continuation(document.text) if inside else tokenizer.encode(document.text)
        if document.ends and ends and tokenizer.end_id is not None:
            ids.append(tokenizer.end_id)
        read = [*before, *ids]
        size = len(document.text.encode("utf-8"))
        yield _Passage(ScoringInput(read, len(before)), size, document.begins, document.ends)
        before = read[: model.window.kept] + read[model.window.kept :][-model.context :]

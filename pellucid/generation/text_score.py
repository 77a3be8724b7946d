"""The log-probability of given texts, token by token."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from pellucid.generation.batching import batch_by_length
from pellucid.generation.continuation import ContextWindow
from pellucid.generation.decoder import prefill_rows
from pellucid.generation.sampling import non_finite_error
from pellucid.generation.text_model import TextModel, begin_ids
from pellucid.models.decoder_only import DecoderOnly
from pellucid.tokenizers import LanguageTokenizer

__all__ = ["ScoringInput", "TextScore", "TokenScore", "score_ids", "score_text", "score_tokens", "windows"]

BATCH_TOKENS = 4096  # padding included
LOGITS_AT_ONCE = 2**24  # numbers


class TokenScore(NamedTuple):
    """A token and its log-probability given the tokens before it.

    Attributes:
        text: in readable form, `▁` for a space.
        log_prob: natural logarithm.
    """

    id: int
    text: str
    log_prob: float


class TextScore(NamedTuple):
    """The log-probability of a text, and of each of its tokens."""

    total: float
    tokens: tuple[TokenScore, ...]

    def as_dict(self) -> dict[str, Any]:
        """Convert it to a dict for JSON."""
        return {"total": self.total, "tokens": [token._asdict() for token in self.tokens]}


class ScoringInput(NamedTuple):
    """A text as ids, and which of them are scored.

    Attributes:
        ids: of the whole text.
        first: index of the first scored id, at least 1; all after it are scored, too.
    """

    ids: Sequence[int]
    first: int


def score_text(model: TextModel, text: str, given: str, stride: int) -> TextScore:
    """Score a text after another one; `LanguageModel.score` describes it."""
    before, scored = _split_ids(model.tokenizer, text, given)
    start = begin_ids(model.tokenizer, always=not before)
    return score_ids(model, ScoringInput([*start, *before, *scored], len(start) + len(before)), stride)


def score_ids(model: TextModel, scoring: ScoringInput, stride: int) -> TextScore:
    """Score a text given as ids, and name its tokens."""
    (log_probs,) = score_tokens(model.model, [scoring], model.window, stride)
    pieces = model.tokenizer.pieces_from_ids(scoring.ids)[scoring.first :]
    tokens = [TokenScore(piece.id, piece.display, value) for piece, value in zip(pieces, log_probs, strict=True)]
    return TextScore(sum(log_probs), tuple(tokens))


@torch.inference_mode()
def score_tokens(
    model: DecoderOnly, texts: Sequence[ScoringInput], window: ContextWindow, stride: int
) -> list[list[float]]:
    """Compute the log-probability of each scored token of each text (natural logarithm).

    A text longer than the model's context is read through windows of that length, each `stride` tokens after the one
    before it. Every token is scored once, in the first window that contains it, and is thus predicted from at least
    context − stride tokens.

    Args:
        stride: from 1 (each token is predicted from as much as the model can read; slow) to the context without the
            sink tokens (fast; the first token of a window is predicted from almost nothing).
    """
    rows = [(number, ids, scored) for number, text in enumerate(texts) for ids, scored in windows(text, window, stride)]
    log_probs: dict[int, list[float]] = {}
    lengths = [len(ids) for _, ids, _ in rows]
    for batch in batch_by_length(lengths, lambda count, longest: count * longest <= BATCH_TOKENS):
        found = _score_batch(model, [rows[i][1] for i in batch], [rows[i][2] for i in batch])
        log_probs.update(zip(batch, found, strict=True))
    scores: list[list[float]] = [[] for _ in texts]
    for i, (number, _, _) in enumerate(rows):
        scores[number] += log_probs[i]
    return scores


def windows(text: ScoringInput, window: ContextWindow, stride: int) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
    """Yield for each window the ids that are read, and the scored ids, which are predicted at its last positions."""
    ids, start, context = text.ids, text.first, window.context
    while start < len(ids):
        stop = min(len(ids), context + 1 if start <= context else start + stride)
        sinks = ids[: window.sink_tokens] if stop - 1 > context else ids[:0]
        yield [*sinks, *ids[max(0, stop - 1 - context + len(sinks)) : stop - 1]], ids[start:stop]
        start = stop


def _score_batch(
    model: DecoderOnly, rows: Sequence[Sequence[int]], scored: Sequence[Sequence[int]]
) -> list[list[float]]:
    most = max(map(len, scored))
    _, parts = prefill_rows(model, rows)
    states: Tensor | None = None  # the last `most` ones of each row
    for part in parts:
        states = (part if states is None else torch.cat((states, part), dim=1))[:, -most:]
    assert states is not None
    device = states.device
    wanted = torch.zeros(len(rows), most, dtype=torch.int64, device=device)
    for row, ids in zip(wanted, scored, strict=True):
        row[most - len(ids) :] = torch.tensor(list(ids), device=device)
    found = _log_probs(model, states, wanted)
    if not torch.isfinite(found).all():
        raise non_finite_error()
    return [row[most - len(ids) :] for row, ids in zip(found.tolist(), scored, strict=True)]


def _log_probs(
    model: DecoderOnly, states: Float[Tensor, "batch seq d_model"], wanted: Int[Tensor, "batch seq"]
) -> Float[Tensor, "batch seq"]:
    """Compute the log-probability of each wanted token after its state."""
    rows = max(1, LOGITS_AT_ONCE // model.vocab_size)
    parts = zip(states.flatten(0, 1).split(rows), wanted.flatten().split(rows), strict=True)
    scores = [F.cross_entropy(model.logits(x).float(), ids, reduction="none") for x, ids in parts]
    return -torch.cat(scores).view_as(wanted)


def _split_ids(tokenizer: LanguageTokenizer, text: str, given: str) -> tuple[list[int], list[int]]:
    """Encode `given` and `text` as one text, or separately where a token would reach across their border."""
    if not given:
        return [], tokenizer.encode(text)
    before = tokenizer.encode(given)
    border = len(tokenizer.decode(before))
    pieces = tokenizer.pieces(given + text)
    count = next((i for i, piece in enumerate(pieces) if piece.end > border), len(pieces))
    if count < len(pieces) and pieces[count].start < border:
        return before, tokenizer.encode_continuation(text)
    ids = [piece.id for piece in pieces]
    return ids[:count], ids[count:]

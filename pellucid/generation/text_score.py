"""How probable a model finds a given text, token by token."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from pellucid.generation.continuation import ContextWindow
from pellucid.generation.decoder import prefill_rows
from pellucid.generation.sampling import non_finite_error
from pellucid.models.decoder_only import DecoderOnly

__all__ = ["ScoringInput", "TextScore", "TokenScore", "score_tokens", "windows"]

BATCH_TOKENS = 4096  # padding included, that pass at once
LOGITS_AT_ONCE = 2**24  # numbers


class TokenScore(NamedTuple):
    """A token and its log-probability given what stands before it.

    Attributes:
        id: in the vocabulary.
        text: as shown to people, `▁` for a space.
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
        """Return it as JSON has it."""
        return {"total": self.total, "tokens": [token._asdict() for token in self.tokens]}


class ScoringInput(NamedTuple):
    """A text as ids, and which of them are scored.

    Attributes:
        ids: all of them.
        first: the first that is scored; it is given those before it, one at least. All after it are scored.
    """

    ids: Sequence[int]
    first: int


class _Job(NamedTuple):
    """What is read at once.

    Attributes:
        reading: number of the text.
        ids: that are read; the last scored token is not among them, nothing follows it.
        scored: the last so many tokens that these predict are scored.
    """

    reading: int
    ids: Sequence[int]
    scored: Sequence[int]


@torch.inference_mode()
def score_tokens(
    model: DecoderOnly, readings: Sequence[ScoringInput], window: ContextWindow, stride: int
) -> list[list[float]]:
    """Return the log-probability of each scored token of each text, natural logarithm.

    A text that is longer than the model's context is read through windows of that width, each `stride` tokens after
    the one before it. Every token is scored once, in the first window that holds it, and so sees at least context −
    stride tokens before it.

    Args:
        model: in the precision it shall run in.
        readings: the texts.
        window: what it reads at once.
        stride: 1 (each token sees all that the model can; slow) up to the context without what stays in view (fast; the
            first token of a window sees next to nothing).
    """
    found: list[list[float]] = [[] for _ in readings]
    jobs = [
        _Job(number, ids, scored)
        for number, reading in enumerate(readings)
        for ids, scored in windows(reading, window, stride)
    ]
    results: dict[int, list[float]] = {}
    for batch in _batches([len(job.ids) for job in jobs]):
        results.update(zip(batch, _score(model, [jobs[i] for i in batch]), strict=True))
    for i, job in enumerate(jobs):
        found[job.reading] += results[i]
    return found


def windows(reading: ScoringInput, window: ContextWindow, stride: int) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
    """Yield the ids that are read at once, and those that are scored: the last ones of what these predict."""
    ids, start, context = reading.ids, reading.first, window.context
    while start < len(ids):
        stop = min(len(ids), context + 1 if start <= context else start + stride)
        kept = ids[: window.kept] if stop - 1 > context else ids[:0]
        yield [*kept, *ids[max(0, stop - 1 - context + len(kept)) : stop - 1]], ids[start:stop]
        start = stop


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield which windows go at once, the longest first; a batch is within the budget, or one alone."""
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batch and lengths[batch[0]] * (len(batch) + 1) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _score(model: DecoderOnly, batch: Sequence[_Job]) -> list[list[float]]:
    most = max(len(job.scored) for job in batch)
    _, parts = prefill_rows(model, [job.ids for job in batch])
    states: Tensor | None = None  # the last `most` ones of each row
    for part in parts:
        states = (part if states is None else torch.cat((states, part), dim=1))[:, -most:]
    assert states is not None
    device = states.device
    wanted = torch.zeros(len(batch), most, dtype=torch.int64, device=device)
    for row, job in zip(wanted, batch, strict=True):
        row[most - len(job.scored) :] = torch.tensor(list(job.scored), device=device)
    found = _log_probs(model, states, wanted)
    if not torch.isfinite(found).all():
        raise non_finite_error()
    log_probs = found.tolist()
    return [row[most - len(job.scored) :] for row, job in zip(log_probs, batch, strict=True)]


def _log_probs(
    model: DecoderOnly, states: Float[Tensor, "batch seq d_model"], wanted: Int[Tensor, "batch seq"]
) -> Float[Tensor, "batch seq"]:
    """Return the log-probability of each wanted token after its state."""
    rows = max(1, LOGITS_AT_ONCE // model.vocab_size)
    parts = zip(states.flatten(0, 1).split(rows), wanted.flatten().split(rows), strict=True)
    scores = [F.cross_entropy(model.logits(x).float(), ids, reduction="none") for x, ids in parts]
    return -torch.cat(scores).view_as(wanted)

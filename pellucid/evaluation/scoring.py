"""How probable a model finds given translations."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F

from pellucid.generation.constraints import padded
from pellucid.generation.placeholders import protect_pair
from pellucid.generation.translate import Translator

__all__ = ["PairScore", "TokenScore", "score_pairs"]


class TokenScore(NamedTuple):
    """A target token and its log-probability given the source and the tokens before it.

    Attributes:
        id: in the target's vocabulary; the last one of a translation is the end's.
        text: as shown to people, `▁` for a space.
        log_prob: natural logarithm.
    """

    id: int
    text: str
    log_prob: float


class PairScore(NamedTuple):
    """The log-probability of a translation, its end included, and of each of its tokens."""

    total: float
    tokens: tuple[TokenScore, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {"total": self.total, "tokens": [token._asdict() for token in self.tokens]}


def score_pairs(translator: Translator, pairs: Sequence[tuple[str, str]], batch_tokens: int = 4096) -> list[PairScore]:
    """Score each target given its source (teacher forcing), in the order given.

    Texts are taken whole: none is split or cut. Placeholders that both sides hold count as in training.

    Args:
        translator: the model and its tokenizers.
        pairs: sources and targets.
        batch_tokens: tokens of the longer side, padding included, that pass at once.

    Raises:
        UserError: for a text longer than a model with learned positions has positions.
    """
    encoded = [_encode(translator, *pair) for pair in pairs]
    found: dict[int, PairScore] = {}
    for batch in _batches([max(len(source), len(target)) for source, target in encoded], batch_tokens):
        scores = _score_batch(translator, [encoded[i] for i in batch])
        found.update(zip(batch, scores, strict=True))
    return [found[i] for i in range(len(pairs))]


def _encode(translator: Translator, source: str, target: str) -> tuple[list[int], list[int]]:
    """Return ids as training has them, each ending in the end token."""
    ours, theirs = translator.source_tokenizer, translator.target_tokenizer
    numbered = translator.copies_placeholders and protect_pair(source, target, len(ours.placeholder_ids))
    source_segments, target_segments = (
        (numbered[0].segments, numbered[1].segments) if numbered else ([source], [target])
    )
    return (
        [*ours.encode_segments(source_segments), ours.end_id],
        [*theirs.encode_segments(target_segments), theirs.end_id],
    )


def _batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batch and lengths[batch[0]] * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


@torch.inference_mode()
def _score_batch(translator: Translator, encoded: Sequence[tuple[list[int], list[int]]]) -> list[PairScore]:
    model, symbols = translator.model, translator.symbols
    device = model.target_embedding.weight.device
    source = padded([ids for ids, _ in encoded], symbols.pad_id, device)
    wanted = padded([ids for _, ids in encoded], symbols.pad_id, device)
    given = padded([[symbols.start_id, *ids[:-1]] for _, ids in encoded], symbols.pad_id, device)
    logits = model(source, given).float()
    log_probs = -F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="none").view_as(wanted)
    scores = []
    for (_, ids), row in zip(encoded, log_probs.tolist(), strict=True):
        pieces = translator.target_tokenizer.pieces_of_ids(ids)
        tokens = tuple(
            TokenScore(piece.id, piece.display, value) for piece, value in zip(pieces, row[: len(ids)], strict=True)
        )
        scores.append(PairScore(sum(row[: len(ids)]), tokens))
    return scores

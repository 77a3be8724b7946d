"""How probable a model finds given translations."""

from collections.abc import Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from pellucid.corpus.pairs import Location
from pellucid.errors import UserError
from pellucid.generation.constraints import pad_rows
from pellucid.generation.placeholders import protect_pair
from pellucid.generation.text_score import TextScore, TokenScore
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig
from pellucid.models.memory import free_bytes
from pellucid.translator import Translator

__all__ = ["encode_pair", "score_pairs"]

BATCH_BYTES = 2**30  # of attention, unless a pair alone needs more
SHARE = 0.5  # of the free memory that a pair alone may need
ROWS = 1024  # target tokens whose logits stand in memory at once


def score_pairs(
    translator: Translator,
    pairs: Sequence[tuple[str, str]],
    batch_tokens: int = 4096,
    locations: Sequence[tuple[Location, Location]] = (),
) -> list[TextScore]:
    """Score each target given its source (teacher forcing), its end included, in the order given.

    Texts are taken whole: none is split or cut. Placeholders that both sides hold count as in training. Long pairs go
    through one at a time; what attention over a pair needs grows with the square of its length.

    Args:
        translator: the model and its tokenizers.
        pairs: sources and targets.
        batch_tokens: tokens of the longer side, padding included, that pass at once.
        places: where both sides of each pair stand, for what is said of one that cannot be scored.

    Raises:
        UserError: for a pair that is too long for the memory that is free, or for the positions that a model has
            learned; before any is scored.
    """
    encoded = [encode_pair(translator, *pair) for pair in pairs]
    lengths = [max(len(source), len(target)) for source, target in encoded]
    _refuse_too_long(translator, encoded, locations)
    found: dict[int, TextScore] = {}
    for batch in _batches(translator.model.config, lengths, batch_tokens):
        try:
            scores = _score_batch(translator, [encoded[i] for i in batch])
        except torch.OutOfMemoryError as error:  # of a device, which has other kernels than are reckoned with here
            raise _too_long(encoded, batch[0], locations, "the device has too little memory for it") from error
        found.update(zip(batch, scores, strict=True))
    return [found[i] for i in range(len(pairs))]


def encode_pair(translator: Translator, source: str, target: str) -> tuple[list[int], list[int]]:
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


def _refuse_too_long(
    translator: Translator,
    encoded: Sequence[tuple[list[int], list[int]]],
    locations: Sequence[tuple[Location, Location]],
) -> None:
    """Refuse the first pair that the model or the machine has no room for."""
    config, device = translator.model.config, translator.model.target_embedding.weight.device
    free = free_bytes(device)
    for i, (source, target) in enumerate(encoded):
        longest = max(len(source), len(target))
        if config.positions == "learned" and longest > config.max_positions:
            raise _too_long(
                encoded, i, locations, f"the model has learned codes for {config.max_positions:,} positions"
            )
        needed = _attention_bytes(config, longest)
        if device.type == "cpu" and needed > max(SHARE * free, BATCH_BYTES):
            raise _too_long(
                encoded,
                i,
                locations,
                f"attention over it needs {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free",
            )


def _too_long(
    encoded: Sequence[tuple[list[int], list[int]]], i: int, locations: Sequence[tuple[Location, Location]], why: str
) -> UserError:
    source, target = map(len, encoded[i])
    return UserError(
        f"a pair of {source:,} and {target:,} tokens is too long to score: {why}",
        where=str(locations[i][target > source]) if locations else f"pair {i + 1:,} of {len(encoded):,}",
        hint="Cut it into its sentences, or leave it out; `pellucid doctor FILES --fix clean.tsv` leaves out what is "
        "longer than --max-characters.",
    )


def _attention_bytes(config: EncoderDecoderConfig, length: int) -> int:
    """Return what attention holds at once, bytes: scores before and after mask and softmax, in float32."""
    return 4 * 4 * config.n_heads * length**2


def _batches(config: EncoderDecoderConfig, lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Yield which pairs go at once, the longest first: within the tokens and the memory of a batch, or one alone."""
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batch:
            rows, longest = len(batch) + 1, lengths[batch[0]]
            if rows * longest > budget or rows * _attention_bytes(config, longest) > BATCH_BYTES:
                yield batch
                batch = []
        batch.append(i)
    if batch:
        yield batch


@torch.inference_mode()
def _score_batch(translator: Translator, encoded: Sequence[tuple[list[int], list[int]]]) -> list[TextScore]:
    model, special_tokens = translator.model, translator.special_tokens
    device = model.target_embedding.weight.device
    source = pad_rows([ids for ids, _ in encoded], special_tokens.pad_id, device)
    wanted = pad_rows([ids for _, ids in encoded], special_tokens.pad_id, device)
    given = pad_rows([[special_tokens.start_id, *ids[:-1]] for _, ids in encoded], special_tokens.pad_id, device)
    log_probs = _log_probs(translator, model.decode(given, model.encode(source)), wanted)
    scores = []
    for (_, ids), row in zip(encoded, log_probs.tolist(), strict=True):
        pieces = translator.target_tokenizer.pieces_from_ids(ids)
        tokens = tuple(
            TokenScore(piece.id, piece.display, value) for piece, value in zip(pieces, row[: len(ids)], strict=True)
        )
        scores.append(TextScore(sum(row[: len(ids)]), tokens))
    return scores


def _log_probs(translator: Translator, states: Tensor, wanted: Tensor) -> Tensor:
    """Return the log-probability of each wanted token after its state, [batch target]."""
    parts = zip(states.flatten(0, 1).split(ROWS), wanted.flatten().split(ROWS), strict=True)
    scores = [F.cross_entropy(translator.model.logits(x).float(), ids, reduction="none") for x, ids in parts]
    return -torch.cat(scores).view_as(wanted)

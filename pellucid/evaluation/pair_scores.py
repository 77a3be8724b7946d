"""The log-probability of given translations."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from pellucid.corpus.pairs import Location
from pellucid.errors import UserError
from pellucid.free_memory import free_bytes
from pellucid.generation.batching import batch_by_length, pad_rows
from pellucid.generation.placeholders import protect_pair
from pellucid.generation.text_score import TextScore, TokenScore
from pellucid.generation.translation_model import TranslationModel
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig

__all__ = ["encode_pair", "score_pairs"]

BATCH_BYTES = 2**30  # of attention, unless a pair alone needs more
SHARE = 0.5  # of the free memory that a pair alone may need
ROWS = 1024  # target tokens whose logits are in memory at once

EncodedPair = tuple[list[int], list[int]]


def score_pairs(
    translator: TranslationModel,
    pairs: Sequence[tuple[str, str]],
    batch_tokens: int = 4096,
    locations: Sequence[tuple[Location, Location]] = (),
) -> list[TextScore]:
    """Score each target given its source (teacher forcing), end token included, in order.

    Texts are neither split nor cut. Placeholders that occur on both sides are encoded as in training. Long pairs are
    scored one at a time: the memory for attention over a pair grows with the square of its length.

    Args:
        batch_tokens: tokens of the longer side in a batch, padding included.
        locations: of both sides of each pair, for error messages.

    Raises:
        UserError: for a pair that is too long for the free memory, or for the positions that the model has learned;
            before any is scored.
    """
    encoded = [encode_pair(translator, *pair) for pair in pairs]
    config = translator.model.config
    _check_lengths(translator, encoded, locations)

    def fits(rows: int, longest: int) -> bool:
        return rows * longest <= batch_tokens and rows * _attention_bytes(config, longest) <= BATCH_BYTES

    found: dict[int, TextScore] = {}
    for batch in batch_by_length([max(map(len, pair)) for pair in encoded], fits):
        try:
            scores = _score_batch(translator, [encoded[i] for i in batch])
        except torch.OutOfMemoryError as error:  # on a GPU, whose kernels need less than reckoned with here
            raise _too_long(encoded, batch[0], locations, "it does not fit into the memory of the GPU") from error
        found.update(zip(batch, scores, strict=True))
    return [found[i] for i in range(len(pairs))]


def encode_pair(translator: TranslationModel, source: str, target: str) -> EncodedPair:
    """Encode a pair as in training, each side ending in the end token."""
    source_tokenizer, target_tokenizer = translator.source_tokenizer, translator.target_tokenizer
    numbered = translator.copies_placeholders and protect_pair(source, target, len(source_tokenizer.placeholder_ids))
    source_segments, target_segments = (
        (numbered[0].segments, numbered[1].segments) if numbered else ([source], [target])
    )
    return (
        [*source_tokenizer.encode_segments(source_segments), source_tokenizer.end_id],
        [*target_tokenizer.encode_segments(target_segments), target_tokenizer.end_id],
    )


def _check_lengths(
    translator: TranslationModel, encoded: Sequence[EncodedPair], locations: Sequence[tuple[Location, Location]]
) -> None:
    """Reject the first pair that exceeds the model's positions or the machine's memory."""
    config, device = translator.model.config, translator.model.target_embedding.weight.device
    limit, free = config.position_limit, free_bytes(device)
    for i, pair in enumerate(encoded):
        longest = max(map(len, pair))
        if limit is not None and longest > limit:
            raise _too_long(encoded, i, locations, f"the model has learned {limit:,} positions")
        needed = _attention_bytes(config, longest)
        if device.type == "cpu" and needed > max(SHARE * free, BATCH_BYTES):
            reason = f"attention over it needs {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free"
            raise _too_long(encoded, i, locations, reason)


def _too_long(
    encoded: Sequence[EncodedPair], i: int, locations: Sequence[tuple[Location, Location]], reason: str
) -> UserError:
    source, target = map(len, encoded[i])
    return UserError(
        f"a pair of {source:,} and {target:,} tokens is too long to score: {reason}",
        where=str(locations[i][target > source]) if locations else f"pair {i + 1:,} of {len(encoded):,}",
        hint="Split it into sentences, or leave it out: `pellucid doctor FILES --fix clean.tsv` drops pairs that are "
        "longer than --max-characters.",
    )


def _attention_bytes(config: EncoderDecoderConfig, length: int) -> int:
    """Estimate the memory of attention, bytes: float32 scores before and after mask and softmax."""
    return 4 * 4 * config.n_heads * length**2


@torch.inference_mode()
def _score_batch(translator: TranslationModel, encoded: Sequence[EncodedPair]) -> list[TextScore]:
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


def _log_probs(translator: TranslationModel, states: Tensor, wanted: Tensor) -> Tensor:
    """Compute the log-probability of each wanted token after its state, [batch target]."""
    parts = zip(states.flatten(0, 1).split(ROWS), wanted.flatten().split(ROWS), strict=True)
    scores = [F.cross_entropy(translator.model.logits(x).float(), ids, reduction="none") for x, ids in parts]
    return -torch.cat(scores).view_as(wanted)

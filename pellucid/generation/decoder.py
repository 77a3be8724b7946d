"""Decoders: read texts and give the logits of their next tokens. What generation asks of a model."""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from pellucid.generation.batching import unique_rows
from pellucid.layers.cache import SequenceCache
from pellucid.models.decoder_only import DecoderOnly

__all__ = ["BatchDecoder", "BatchLogits", "Decoder", "ModelDecoder", "SingleSequenceDecoder", "prefill_rows"]

BatchLogits = NDArray[numpy.float32]
"""Logits of the next token of each sequence, [batch vocab_size]; nats."""

PREFILL_CHUNK = 512  # tokens read at once; the memory for attention scores grows with this times the context


class Decoder(Protocol):
    """Decodes one sequence: the minimum that another implementation of a model must offer."""

    def prefill(self, ids: Sequence[int]) -> NDArray[numpy.float32]:
        """Start over with `ids`, at least one, and return the logits after the last, [vocab_size]."""

    def step(self, token_id: int) -> NDArray[numpy.float32]:
        """Append an id and return the logits after it, [vocab_size]."""


class BatchDecoder(Protocol):
    """Decodes several sequences, none of which influences another."""

    @property
    def max_batch_size(self) -> int | None:
        """Maximum number of sequences; None if unlimited."""

    def prefill(self, prompts: Sequence[Sequence[int]]) -> BatchLogits:
        """Start over with these prompts, at least a token each, and return the logits after each."""

    def step(self, ids: Sequence[int]) -> BatchLogits:
        """Append an id to each sequence and return the logits after it."""

    def select(self, rows: Sequence[int]) -> None:
        """Keep these sequences only."""


class SingleSequenceDecoder:
    """A `Decoder` as a `BatchDecoder` of one sequence."""

    max_batch_size = 1

    def __init__(self, decoder: Decoder) -> None:
        self.decoder = decoder

    def prefill(self, prompts: Sequence[Sequence[int]]) -> BatchLogits:
        """Start over with the one prompt."""
        (prompt,) = prompts
        return self.decoder.prefill(prompt)[None]

    def step(self, ids: Sequence[int]) -> BatchLogits:
        """Append an id to the one sequence."""
        (number,) = ids
        return self.decoder.step(number)[None]

    def select(self, rows: Sequence[int]) -> None:
        """Keep the one sequence."""


class ModelDecoder:
    """Decodes with the network itself and a key–value cache, in its own precision and on its device.

    A prompt given several times is read once. Shorter prompts are padded on the left, where nobody attends, so each
    gives the same logits as it does alone.
    """

    max_batch_size = None

    def __init__(self, model: DecoderOnly) -> None:
        self.model = model
        self._cache: SequenceCache | None = None

    @torch.inference_mode()
    def prefill(self, prompts: Sequence[Sequence[int]]) -> BatchLogits:
        """Start over with these prompts and return the logits after each."""
        texts, rows = unique_rows(prompts)
        self._cache, parts = prefill_rows(self.model, texts)
        for states in parts:
            last = states[:, -1]
        if len(rows) > len(texts):
            self.select(rows)
        return self._logits(last)[rows]

    @torch.inference_mode()
    def step(self, ids: Sequence[int]) -> BatchLogits:
        """Append an id to each sequence and return the logits after it."""
        assert self._cache is not None, "prefill comes first"
        new = torch.tensor(ids, device=self.model.embedding.weight.device)[:, None]
        return self._logits(self.model.extend(new, self._cache)[:, -1])

    def select(self, rows: Sequence[int]) -> None:
        """Keep these sequences only."""
        assert self._cache is not None, "prefill comes first"
        self._cache.select(torch.tensor(rows, device=self.model.embedding.weight.device))

    def _logits(self, states: Float[Tensor, "batch d_model"]) -> BatchLogits:
        logits: BatchLogits = self.model.logits(states).float().cpu().numpy()
        return logits


def prefill_rows(
    model: DecoderOnly, rows: Sequence[Sequence[int]]
) -> tuple[SequenceCache, Iterator[Float[Tensor, "batch part d_model"]]]:
    """Read texts side by side, chunk by chunk, aligned at their ends; shorter ones are padded on the left.

    Returns:
        The cache, which is filled as the chunks are consumed, and for each chunk the states of its tokens.
    """
    longest = max(map(len, rows))
    padding = [longest - len(row) for row in rows]
    device = model.embedding.weight.device
    ids = torch.tensor([[0] * fill + list(row) for fill, row in zip(padding, rows, strict=True)], device=device)
    cache = model.start_cache(longest, torch.tensor(padding, device=device) if any(padding) else None)
    return cache, (model.extend(part, cache) for part in ids.split(PREFILL_CHUNK, dim=1))

"""What generation asks of a model: read this text, and say what may come next."""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from pellucid.layers.cache import SequenceCache
from pellucid.models.decoder_only import DecoderOnly

__all__ = ["BatchDecoder", "BatchLogits", "Decoder", "ModelDecoder", "SingleSequenceDecoder", "prefill_rows"]

BatchLogits = NDArray[numpy.float32]
"""Scores of every token to come next, before the softmax, [batch vocab_size]; nats."""

PREFILL_CHUNK = 512  # tokens of a prompt: the scores of attention grow with this times the context


class Decoder(Protocol):
    """Reads one sequence and remembers it; the least that a faster implementation of a model has to offer."""

    @property
    def vocab_size(self) -> int:
        """How many logits there are."""

    @property
    def context(self) -> int:
        """Most tokens that a sequence may have."""

    def prefill(self, ids: Sequence[int]) -> NDArray[numpy.float32]:
        """Forget what was read before, read `ids`, one at least, and return the logits after the last, [vocab_size]."""

    def step(self, number: int) -> NDArray[numpy.float32]:
        """Read one more id and return the logits after it, [vocab_size]."""


class BatchDecoder(Protocol):
    """Reads sequences side by side, none of which changes another."""

    @property
    def vocab_size(self) -> int:
        """How many logits there are."""

    @property
    def context(self) -> int:
        """Most tokens that a sequence may have."""

    @property
    def max_batch_size(self) -> int | None:
        """How many there may be at once; None for any number."""

    def prefill(self, prompts: Sequence[Sequence[int]]) -> BatchLogits:
        """Forget what was read before, read the prompts (a token each at least), return the logits after each."""

    def step(self, ids: Sequence[int]) -> BatchLogits:
        """Read one more id a sequence and return the logits after it."""

    def select(self, rows: Sequence[int]) -> None:
        """Go on with these sequences only."""


class SingleSequenceDecoder:
    """A `Decoder` as a `BatchDecoder` of one sequence."""

    max_batch_size = 1

    def __init__(self, decoder: Decoder) -> None:
        self.decoder = decoder

    @property
    def vocab_size(self) -> int:
        """How many logits there are."""
        return self.decoder.vocab_size

    @property
    def context(self) -> int:
        """Most tokens of a sequence."""
        return self.decoder.context

    def prefill(self, prompts: Sequence[Sequence[int]]) -> BatchLogits:
        """Read the one prompt."""
        (prompt,) = prompts
        return self.decoder.prefill(prompt)[None]

    def step(self, ids: Sequence[int]) -> BatchLogits:
        """Read its next id."""
        (number,) = ids
        return self.decoder.step(number)[None]

    def select(self, rows: Sequence[int]) -> None:
        """Go on with the one sequence."""


class ModelDecoder:
    """The model itself, in the precision and on the device it is on, with a cache of keys and values.

    A prompt given several times is read once. Prompts of unequal lengths are filled up at their left, where nobody
    looks, and each gives what it gives alone.
    """

    max_batch_size = None

    def __init__(self, model: DecoderOnly) -> None:
        self.model = model
        self._cache: SequenceCache | None = None

    @property
    def vocab_size(self) -> int:
        """How many logits there are."""
        return self.model.vocab_size

    @property
    def context(self) -> int:
        """Most tokens of a sequence."""
        return self.model.config.max_positions

    @torch.inference_mode()
    def prefill(self, prompts: Sequence[Sequence[int]]) -> BatchLogits:
        """Forget what was read before, read the prompts, and return the logits after each."""
        numbers: dict[tuple[int, ...], int] = {}
        rows = [numbers.setdefault(tuple(prompt), len(numbers)) for prompt in prompts]
        self._cache, parts = prefill_rows(self.model, list(numbers))
        for states in parts:
            last = states[:, -1]
        if len(rows) > len(numbers):
            self.select(rows)
        return self._logits(last)[rows]

    @torch.inference_mode()
    def step(self, ids: Sequence[int]) -> BatchLogits:
        """Read one more id a sequence and return the logits after it."""
        assert self._cache is not None, "prefill comes first"
        new = torch.tensor(ids, device=self.model.embedding.weight.device)[:, None]
        return self._logits(self.model.extend(new, self._cache)[:, -1])

    def select(self, rows: Sequence[int]) -> None:
        """Go on with these sequences only."""
        assert self._cache is not None, "prefill comes first"
        self._cache.select(torch.tensor(rows, device=self.model.embedding.weight.device))

    def _logits(self, states: Float[Tensor, "batch d_model"]) -> BatchLogits:
        logits: BatchLogits = self.model.logits(states).float().cpu().numpy()
        return logits


def prefill_rows(
    model: DecoderOnly, rows: Sequence[Sequence[int]]
) -> tuple[SequenceCache, Iterator[Float[Tensor, "batch part d_model"]]]:
    """Let a model read texts side by side, part by part; their ends are level, the short ones filled up before them.

    Args:
        model: the model.
        rows: ids of each, at least one.

    Returns:
        The cache, which is filled as the parts are taken, and for each part the states of its tokens.
    """
    longest = max(map(len, rows))
    padding = [longest - len(row) for row in rows]
    device = model.embedding.weight.device
    ids = torch.tensor([[0] * fill + list(row) for fill, row in zip(padding, rows, strict=True)], device=device)
    cache = model.start_cache(longest, torch.tensor(padding, device=device) if any(padding) else None)
    return cache, (model.extend(part, cache) for part in ids.split(PREFILL_CHUNK, dim=1))

"""The training task of a language model: its loss, and bits per byte and a sample on held-out text."""

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor

from pellucid.generation.continuation import ContextWindow, Continuation, DecodingVocabulary, run_continuations
from pellucid.generation.decoder import ModelDecoder
from pellucid.generation.sampling_config import SamplingConfig
from pellucid.generation.utf8 import CharacterStream
from pellucid.models.decoder_only import DecoderOnly
from pellucid.randomness import generator
from pellucid.training.config import LanguageModelTrainingConfig
from pellucid.training.document_dataset import TextBatch, Windows
from pellucid.training.loss import cross_entropy
from pellucid.training.precision import autocast, training_dtype
from pellucid.training.prepare_text import PreparedText
from pellucid.training.task import BatchLoss, Metrics

__all__ = ["LanguageModelTask"]

VALIDATION_TOKENS = 4096
"""Tokens per forward pass in validation."""

_PROMPT = 32  # tokens that prompt a sample, for texts without a prompt


class LanguageModelTask:
    """Predict each token from those before it in its document; of a document with a prompt, only the completion."""

    def __init__(
        self, config: LanguageModelTrainingConfig, sampling: SamplingConfig, model: DecoderOnly, prepared: PreparedText
    ) -> None:
        self.config = config
        self.sampling = sampling
        self.model = model
        self.prepared = prepared
        self.device = model.embedding.weight.device
        self.dtype = training_dtype(config.precision)
        self._windows: tuple[int, Windows] | None = None
        self._states: Callable[[TextBatch], Tensor] = (
            torch.compile(self._states_of, dynamic=True) if config.compile else self._states_of
        )

    def plan(self, batch_tokens: int, epoch: int) -> list[NDArray[numpy.int64]]:
        """Plan the batches of an epoch as arrays of window indices, all of about the same size."""
        count = len(self._windows_of(epoch).chunks)
        return numpy.array_split(numpy.arange(count), math.ceil(count / self._rows(batch_tokens)))

    def batches(self, items: NDArray[numpy.int64], epoch: int, micro_batch_tokens: int) -> Sequence[TextBatch]:
        """Load windows, in as few equal parts as keep each within `micro_batch_tokens`."""
        windows = self._windows_of(epoch)
        parts = numpy.array_split(items, math.ceil(len(items) / self._rows(micro_batch_tokens)))
        return [self.prepared.train.batch(windows, part.tolist(), self.device) for part in parts]

    def loss(self, batch: TextBatch, progress: float) -> BatchLoss:
        """Compute the loss of the tokens to predict."""
        loss, _ = self._losses(batch)
        return BatchLoss(loss, float(loss.detach()))

    def validation_loss(self) -> float | None:
        """Compute the cross-entropy of the validation text, nats per token; None if there is none.

        A long text is measured on as many windows as `training.validation_tokens` allows, spread evenly. A document
        longer than the context is read in windows that do not overlap, so that their first tokens have little context.
        """
        valid, total, tokens = self.prepared.valid, 0.0, 0
        with torch.no_grad():
            for numbers in self._measured:
                batch = valid.batch(self._valid_windows, numbers.tolist(), self.device)
                _, nll = self._losses(batch)
                total += float(nll)
                tokens += batch.target_tokens
        return total / tokens if tokens else None

    def measure(self, loss: float, validations: int) -> Metrics:
        """Compute bits per byte, and continue one of the validation texts."""
        bits = loss / math.log(2) * self.prepared.tokens_per_byte
        return Metrics(bits_per_byte=bits, sample=self._sample(validations) if self.config.sample_tokens else None)

    @cached_property
    def _valid_windows(self) -> Windows:
        return self.prepared.valid.windows(0)

    @cached_property
    def _measured(self) -> list[NDArray[numpy.int64]]:
        """The validation windows that are measured, in batches."""
        count = len(self._valid_windows.chunks)
        context = self.prepared.valid.context
        wanted = min(count, max(1, self.config.validation_tokens // context))
        chosen = numpy.linspace(0, max(count - 1, 0), wanted).round().astype(numpy.int64)
        return numpy.array_split(chosen, math.ceil(wanted / max(1, VALIDATION_TOKENS // context))) if wanted else []

    def _windows_of(self, epoch: int) -> Windows:
        if self._windows is None or self._windows[0] != epoch:
            self._windows = epoch, self.prepared.train.windows(epoch)
        return self._windows[1]

    def _rows(self, tokens: int) -> int:
        return max(1, tokens // self.prepared.train.context)

    def _states_of(self, batch: TextBatch) -> Tensor:
        return self.model.states(batch.ids, may_attend=batch.may_attend, positions=batch.positions)

    def _losses(self, batch: TextBatch) -> tuple[Tensor, Tensor]:
        with autocast(self.dtype, self.device):
            states = self._states(batch)
        matrix = self.model.output_embedding.weight
        predicted = states.flatten(0, 1).index_select(0, batch.predicted)
        return cross_entropy(predicted, matrix, batch.targets, 0.0, self.dtype)

    def _sample(self, validations: int) -> dict[str, str]:
        """Continue a validation text from its prompt, or from its first tokens, as the finished model does."""
        valid, tokenizer = self.prepared.valid, self.prepared.tokenizer
        number = validations % len(valid.starts)
        start, length = int(valid.starts[number]), int(valid.lengths[number])
        ids = valid.ids[start : start + length]
        given = int((ids < 0).sum()) or min(_PROMPT, length // 2)
        space = valid.context - min(self.config.sample_tokens, valid.context // 2)
        prompt = self._complete_characters(numpy.where(ids < 0, ~ids, ids)[: given + 1].tolist()[-space:])
        one = Continuation(
            prompt,
            self.sampling.model_copy(update={"tokens": self.config.sample_tokens, "sliding": False}),
            self._vocabulary,
            ContextWindow(valid.context, 0),
            generator(self.config.seed, "sample", validations),
        )
        with autocast(self.dtype, self.device):
            for _ in run_continuations(ModelDecoder(self.model), [one]):
                pass  # the continuation collects its tokens
        return {"prompt": tokenizer.decode(prompt), "continuation": one.text}

    @cached_property
    def _vocabulary(self) -> DecodingVocabulary:
        return DecodingVocabulary(self.prepared.tokenizer, self.model.vocab_size)

    def _complete_characters(self, ids: list[int]) -> list[int]:
        """Drop incomplete characters at both ends; return at least one id."""
        pieces, characters, end = self._vocabulary.pieces, CharacterStream(), 0
        begin = next((n for n, i in enumerate(ids) if not b"\x80" <= pieces[i][:1] < b"\xc0"), len(ids))
        for n, i in enumerate(ids):
            characters.push(pieces[i])
            if not characters.incomplete:
                end = n + 1
        return ids[begin:end] or [self.prepared.tokenizer.start_id]

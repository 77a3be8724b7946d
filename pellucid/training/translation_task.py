"""The training task of a translator: its loss, guided alignment included, and BLEU on held-out pairs."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor

from pellucid.evaluation.translation_metrics import score_translations
from pellucid.generation.generation_config import GenerationConfig
from pellucid.generation.translate import translate_texts
from pellucid.generation.translation_model import TranslationModel
from pellucid.layers.taps import SelectiveTap, Tap, keep
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.training.batches import PairBatch, split_batch
from pellucid.training.config import TranslatorTrainingConfig
from pellucid.training.loss import cross_entropy, guided_alignment
from pellucid.training.pair_dataset import alignment_posteriors
from pellucid.training.precision import autocast, training_dtype
from pellucid.training.prepare_pairs import PreparedPairs
from pellucid.training.schedule import guided_weight
from pellucid.training.task import BatchLoss, Metrics

__all__ = ["VALIDATION_TOKENS", "TranslationTask"]

VALIDATION_TOKENS = 4096
"""Tokens per forward pass in validation."""


class TranslationTask:
    """Predict each target token from the source and the target tokens before it.

    Args:
        folder: the model folder, with its settings for translation.
    """

    def __init__(
        self, config: TranslatorTrainingConfig, model: EncoderDecoder, prepared: PreparedPairs, folder: Path
    ) -> None:
        self.config = config
        self.model = model
        self.prepared = prepared
        self.folder = folder
        self.device = model.target_embedding.weight.device
        self.dtype = training_dtype(config.precision)
        self.lexicon = prepared.lexicon if config.guided_weight > 0 else None
        self._decode: Callable[[Tensor, Tensor, Tap], Tensor] = (
            torch.compile(self._decoded, dynamic=True) if config.compile else self._decoded
        )

    def plan(self, batch_tokens: int, epoch: int) -> list[NDArray[numpy.int64]]:
        """Plan the batches of an epoch as arrays of pair indices."""
        return self.prepared.train.plan(batch_tokens, epoch)

    def batches(self, items: NDArray[numpy.int64], epoch: int, micro_batch_tokens: int) -> Sequence[PairBatch]:
        """Load pairs, split into the fewest equal parts of at most `micro_batch_tokens` each."""
        pairs = self.prepared.train
        return [pairs.batch(part, epoch, self.device) for part in split_batch(items, pairs.longest, micro_batch_tokens)]

    def loss(self, batch: PairBatch, progress: float) -> BatchLoss:
        """Compute the smoothed loss of the target tokens, plus the weighted guided-alignment loss while active."""
        guidance = guided_weight(self.config, progress)
        weights: list[Tensor] = []
        guided = self.lexicon is not None and guidance > 0
        tap = _collect_attention(self.config.guided_layer, weights) if guided else keep
        with autocast(self.dtype, self.device):
            states = self._decode(batch.source, batch.target_in, tap)
        predicted = batch.target_out != self.model.pad_id
        matrix, smoothing = self.model.output_embedding.weight, self.config.label_smoothing
        loss, nll = cross_entropy(states[predicted], matrix, batch.target_out[predicted], smoothing, self.dtype)
        if not guided:
            return BatchLoss(loss, float(nll))
        assert self.lexicon is not None
        posteriors = alignment_posteriors(self.lexicon, batch)
        guided_loss = guided_alignment(weights[0][:, : self.config.guided_heads], posteriors)
        return BatchLoss(loss + guidance * guided_loss, float(nll), float(guided_loss.detach()))

    def validation_loss(self) -> float | None:
        """Compute the cross-entropy of the validation targets, nats per token; None without validation pairs."""
        if not self.prepared.valid_text:
            return None
        total, tokens, valid = 0.0, 0, self.prepared.valid
        with torch.no_grad():
            for pairs in valid.plan(VALIDATION_TOKENS, 0):
                batch = valid.batch(pairs, 0, self.device)
                predicted = batch.target_out != self.model.pad_id
                with autocast(self.dtype, self.device):
                    states = self.model.decode(batch.target_in, self.model.encode(batch.source))
                matrix = self.model.output_embedding.weight
                _, loss = cross_entropy(states[predicted], matrix, batch.target_out[predicted], 0.0, self.dtype)
                total += float(loss)
                tokens += batch.target_tokens
        return total / tokens

    def measure(self, loss: float, validations: int) -> Metrics:
        """Translate the first validation sentences greedily: BLEU, chrF, and a sample translation."""
        prepared = self.prepared
        count = min(self.config.validation_sentences, len(prepared.valid_text))
        if not count:
            return Metrics()
        sources, references = zip(*prepared.valid_text[:count], strict=True)
        # As `pellucid evaluate` does, but greedily: text in, text out, with placeholders.
        tokenizers = prepared.tokenizers
        translator = TranslationModel.with_network(self.folder, self.model, tokenizers.source, tokenizers.target)
        greedy = translator.settings(beam=1, n_best=1, **self._length_limits(count, translator.config))
        with autocast(self.dtype, self.device):
            translations = [found.text for found in translate_texts(translator, sources, [""] * count, greedy)]
        scores = score_translations(translations, references, prepared.report["languages"][1])
        shown = validations % count
        sample = {"source": sources[shown], "translation": translations[shown], "reference": references[shown]}
        exact = sum(ours == theirs for ours, theirs in zip(translations, references, strict=True)) / count
        return Metrics(scores.bleu, scores.chrf, exact, sample=sample)

    def _length_limits(self, count: int, model: GenerationConfig) -> dict[str, float]:
        """Limit translations by the longest reference, for its source: an untrained model would not end before."""
        source, target = self.prepared.valid.source.lengths[:count], self.prepared.valid.target.lengths[:count]
        longest = float((target / source).max())
        return {
            "max_length_ratio": min(longest, model.max_length_ratio),
            "max_length_extra": min(5, model.max_length_extra),
        }

    def _decoded(self, source: Tensor, target: Tensor, tap: Tap) -> Tensor:
        return self.model.decode(target, self.model.encode(source, tap), tap)


def _collect_attention(layer: int, weights: list[Tensor]) -> SelectiveTap:
    """Create a tap that appends the cross-attention weights of one decoder layer to `weights`."""

    def collect(name: str, x: Tensor) -> Tensor:
        weights.append(x)
        return x

    return SelectiveTap([f"decoder.{layer}.cross_attention.weights"], collect)

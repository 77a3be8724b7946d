"""Learning to translate: the loss of a batch of pairs, guided by an aligner, and BLEU on held-out ones."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor

from pellucid.evaluation.translation_metrics import score_translations
from pellucid.generation.translate import translate_texts
from pellucid.generation.translation_model import TranslationModel
from pellucid.layers.taps import SelectiveTap, Tap, keep
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.training.batches import PairBatch, split_batch
from pellucid.training.config import TranslatorTrainingConfig
from pellucid.training.loss import cross_entropy, guided_alignment
from pellucid.training.pair_dataset import posteriors
from pellucid.training.precision import autocast, training_dtype
from pellucid.training.prepare_pairs import PreparedPairs
from pellucid.training.schedule import guided_weight
from pellucid.training.task import BatchLoss, Metrics

__all__ = ["VALIDATION_TOKENS", "TranslationTask"]

VALIDATION_TOKENS = 4096  # that pass at once


class TranslationTask:
    """Predict each target token from the source and the target tokens before it.

    Args:
        config: smoothing, guidance, precision.
        model: on its device.
        prepared: the pairs.
        folder: of the model, which says how it translates.
    """

    def __init__(
        self, config: TranslatorTrainingConfig, model: EncoderDecoder, prepared: PreparedPairs, folder: Path
    ) -> None:
        self.config = config
        self.model = model
        self.prepared = prepared
        self.folder = folder
        self.device = model.target_embedding.weight.device
        self.dtype = training_dtype(config.precision, self.device)
        self.lexicon = prepared.lexicon if config.guided_weight > 0 else None
        self._decode: Callable[[Tensor, Tensor, Tap], Tensor] = (
            torch.compile(self._decoded, dynamic=True) if config.compile else self._decoded
        )

    def plan(self, batch_tokens: int, epoch: int) -> list[NDArray[numpy.int64]]:
        """Return the batches of an epoch as arrays of pair numbers."""
        return self.prepared.train.plan(batch_tokens, epoch)

    def batches(self, items: NDArray[numpy.int64], epoch: int, micro_batch_tokens: int) -> Sequence[PairBatch]:
        """Return pairs in as few equal parts as keep each within `micro_batch_tokens`."""
        pairs = self.prepared.train
        return [pairs.batch(part, epoch, self.device) for part in split_batch(items, pairs.longest, micro_batch_tokens)]

    def loss(self, batch: PairBatch, progress: float) -> BatchLoss:
        """Return the smoothed loss of the target tokens, and while guidance lasts its loss with its weight."""
        guidance = guided_weight(self.config, progress)
        weights: list[Tensor] = []
        guided = self.lexicon is not None and guidance > 0
        tap = _attention_of(self.config.guided_layer, weights) if guided else keep
        with autocast(self.dtype, self.device):
            states = self._decode(batch.source, batch.target_in, tap)
        predicted = batch.target_out != self.model.pad_id
        matrix, smoothing = self.model.output_embedding.weight, self.config.label_smoothing
        loss, plain = cross_entropy(states[predicted], matrix, batch.target_out[predicted], smoothing, self.dtype)
        if not guided:
            return BatchLoss(loss, float(plain))
        assert self.lexicon is not None
        apart = guided_alignment(weights[0][:, : self.config.guided_heads], posteriors(self.lexicon, batch))
        return BatchLoss(loss + guidance * apart, float(plain), float(apart.detach()))

    def validation_loss(self) -> float | None:
        """Return the cross-entropy of the validation targets, nats a token; None without validation pairs."""
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
        """Translate the first validation sentences greedily: BLEU, chrF, and one of them to look at."""
        prepared = self.prepared
        count = min(self.config.validation_sentences, len(prepared.valid_text))
        if not count:
            return Metrics()
        sources, references = zip(*prepared.valid_text[:count], strict=True)
        # As `pellucid evaluate` does, but for the width of the beam: text in, text out, placeholders in their places.
        tokenizers = prepared.tokenizers
        translator = TranslationModel.with_network(self.folder, self.model, tokenizers.source, tokenizers.target)
        greedy = translator.settings(beam=1, n_best=1)
        with autocast(self.dtype, self.device):
            translations = [found.text for found in translate_texts(translator, sources, [""] * count, greedy)]
        scores = score_translations(translations, references, prepared.report["languages"][1])
        shown = validations % count
        sample = {"source": sources[shown], "translation": translations[shown], "reference": references[shown]}
        return Metrics(scores.bleu, scores.chrf, sample=sample)

    def _decoded(self, source: Tensor, target: Tensor, tap: Tap) -> Tensor:
        return self.model.decode(target, self.model.encode(source, tap), tap)


def _attention_of(layer: int, weights: list[Tensor]) -> SelectiveTap:
    """Return a tap that keeps the cross-attention weights of one decoder layer."""

    def note(name: str, x: Tensor) -> Tensor:
        weights.append(x)
        return x

    return SelectiveTap([f"decoder.{layer}.cross_attention.weights"], note)

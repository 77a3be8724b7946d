"""The loss of a translator on sentence pairs, optionally with activations changed."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from pellucid.demo.language import DemoPair
from pellucid.generation.batching import pad_rows
from pellucid.layers.taps import Tap, keep
from pellucid.translator import Translator

__all__ = ["pair_batch", "translation_loss"]


def pair_batch(translator: Translator, pairs: Sequence[DemoPair]) -> tuple[Tensor, Tensor]:
    """Encode source ids with an end token, and target ids between start and end tokens, as in training."""
    source, target = translator.source_tokenizer, translator.target_tokenizer
    sources = pad_rows([[*source.encode(pair.source), source.end_id] for pair in pairs], source.pad_id)
    targets = pad_rows([[target.start_id, *target.encode(pair.target), target.end_id] for pair in pairs], target.pad_id)
    return sources, targets


def translation_loss(translator: Translator, pairs: Sequence[DemoPair], tap: Tap = keep) -> float:
    """Compute the mean loss of the target tokens, in nats per token.

    Args:
        tap: may change activations.
    """
    sources, targets = pair_batch(translator, pairs)
    with torch.no_grad():
        logits = translator.model(sources, targets[:, :-1], tap)
    pad = translator.target_tokenizer.pad_id
    return float(F.cross_entropy(logits.flatten(0, 1), targets[:, 1:].flatten(), ignore_index=pad))

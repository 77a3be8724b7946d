"""Translation retrieval: are the states of a sentence and its translation close, directly or after a rotation?"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from pellucid.claims.activations import Activations
from pellucid.claims.demo_translator import TrainedTranslator
from pellucid.demo.language import DemoPair
from pellucid.translator import Translator

__all__ = ["fit_rotation", "measure_retrieval", "score_retrieval", "sentence_states"]

_PAIRS_TO_LEARN_FROM = 500  # of those the translator was trained on


def sentence_states(translator: Translator, pairs: Sequence[DemoPair]) -> tuple[Tensor, Tensor]:
    """Compute one vector per sentence for both sides, [pairs d_model] each.

    The source's is the mean of the encoder's states. The target's is the mean of the decoder's residual stream after
    the first self-attention, before it attends to any source, so that it contains nothing of the other sentence.
    """
    model, source_side, target_side = translator.model, [], []
    for pair in pairs:
        source = torch.tensor([translator.source_tokenizer.encode(pair.source)])
        target = torch.tensor([translator.target_tokenizer.encode(pair.target)])
        activations = Activations()

        with torch.no_grad():
            memory = model.encode(source)
            model.decode(target, memory, activations)
        source_side.append(memory.states[0].mean(0))
        target_side.append(activations["decoder.0.residual.after_self_attention"][0].mean(0))
    return torch.stack(source_side), torch.stack(target_side)


def score_retrieval(sources: Tensor, targets: Tensor) -> float:
    """Compute how often the nearest target is the source's own, by cosine after subtracting each side's mean."""
    one, other = (torch.nn.functional.normalize(x - x.mean(0), dim=1) for x in (sources, targets))
    return float(((one @ other.T).argmax(1) == torch.arange(len(one))).float().mean())


def fit_rotation(sources: Tensor, targets: Tensor) -> Tensor:
    """Fit the orthogonal R that minimizes ‖X R − Y‖ for the sources' and targets' rows, their means subtracted.

    Source:
        Schönemann 1966, A Generalized Solution of the Orthogonal Procrustes Problem.
    """
    left, _, right = torch.linalg.svd((sources - sources.mean(0)).T @ (targets - targets.mean(0)))
    rotation: Tensor = left @ right
    return rotation


class RetrievalAccuracy(NamedTuple):
    """How often the translation of a sentence is ranked first: directly, and with one side rotated."""

    direct: float
    rotated: float


def measure_retrieval(trained: TrainedTranslator, sentences: int, shuffled: bool = False) -> RetrievalAccuracy:
    """Retrieve translations among unseen sentences; the rotation is learned from the translator's training pairs.

    Args:
        shuffled: learn it from mismatched pairs.
    """
    sources, targets = sentence_states(trained.translator, trained.data.test[:sentences])
    known_sources, known_targets = sentence_states(trained.translator, trained.data.train[:_PAIRS_TO_LEARN_FROM])
    rotation = fit_rotation(known_sources.roll(1, 0) if shuffled else known_sources, known_targets)
    return RetrievalAccuracy(score_retrieval(sources, targets), score_retrieval(sources @ rotation, targets))

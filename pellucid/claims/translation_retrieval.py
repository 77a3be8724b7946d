"""Do a sentence and its translation lie together? Retrieval of the right partner among many, as they are and turned."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from pellucid.claims.activations import Activations
from pellucid.claims.demo_translator import TrainedTranslator
from pellucid.demo.language import DemoPair
from pellucid.translator import Translator

__all__ = ["fit_rotation", "measure_retrieval", "score_retrieval", "sentence_states"]

_LEARNT_FROM = 500  # pairs, of those the translator was trained on


def sentence_states(translator: Translator, pairs: Sequence[DemoPair]) -> tuple[Tensor, Tensor]:
    """Return one vector a sentence for both sides, [pairs d_model] each.

    The source's is the mean of the encoder's states; the target's is the mean of the decoder's stream after the first
    self-attention, before it has looked at any source, so that nothing of the partner is in it.
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
    """Return how often the nearest target, by cosine after taking off each side's mean, is the source's own."""
    one, other = (torch.nn.functional.normalize(x - x.mean(0), dim=1) for x in (sources, targets))
    return float(((one @ other.T).argmax(1) == torch.arange(len(one))).float().mean())


def fit_rotation(sources: Tensor, targets: Tensor) -> Tensor:
    """Return the R that brings the sources' rows, their mean taken off, nearest to the targets': ‖X R − Y‖ is least.

    Source:
        Schönemann 1966, A Generalized Solution of the Orthogonal Procrustes Problem.
    """
    left, _, right = torch.linalg.svd((sources - sources.mean(0)).T @ (targets - targets.mean(0)))
    turn: Tensor = left @ right
    return turn


class RetrievalAccuracy(NamedTuple):
    """How often the right partner of a sentence is found first: states as they are, and one side turned."""

    as_they_are: float
    turned: float


def measure_retrieval(trained: TrainedTranslator, sentences: int, shuffled: bool = False) -> RetrievalAccuracy:
    """Look for partners among unseen sentences; the rotation is learnt from pairs that the translator was trained on.

    Args:
        shuffled: learn it from pairs that do not belong together.
    """
    sources, targets = sentence_states(trained.translator, trained.data.test[:sentences])
    known_sources, known_targets = sentence_states(trained.translator, trained.data.train[:_LEARNT_FROM])
    turn = fit_rotation(known_sources.roll(1, 0) if shuffled else known_sources, known_targets)
    return RetrievalAccuracy(score_retrieval(sources, targets), score_retrieval(sources @ turn, targets))

"""Occurrences of a word in sentences, their senses by the true alignment, and their vectors in a translator."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from pellucid.claims.activations import Activations
from pellucid.claims.demo_translator import TrainedTranslator
from pellucid.demo.language import DemoPair, spans
from pellucid.translator import Translator

__all__ = ["SenseOccurrence", "sample_occurrences", "sense_separation", "states_by_layer"]


class SenseOccurrence(NamedTuple):
    """A word in a sentence: its character offsets, and its sense, known from its translation."""

    pair: DemoPair
    start: int
    end: int
    sense: str


def sample_occurrences(
    trained: TrainedTranslator, word: str, senses: dict[str, str], most: int
) -> list[SenseOccurrence]:
    """Find up to `most` occurrences of each sense of a Chinese word where it is a single token.

    A token that joins it with a neighbour, such as 看电视, has another row and tells the sense before any context does.

    Args:
        senses: prefix of the English word → sense.
    """
    pairs = [*trained.data.test, *trained.data.valid, *trained.data.train[-3_000:]]
    pieces = trained.translator.source_tokenizer.pieces
    found = [
        one
        for one in _occurrences(pairs, word, senses)
        if (one.start, one.end) in {(piece.start, piece.end) for piece in pieces(one.pair.source)}
    ]
    by_sense = ([one for one in found if one.sense == sense] for sense in dict.fromkeys(senses.values()))
    return [one for same in by_sense for one in same[:most]]


def _occurrences(pairs: Sequence[DemoPair], word: str, senses: dict[str, str]) -> list[SenseOccurrence]:
    """Find the occurrences of a Chinese word whose translation begins with one of the given prefixes."""
    found = []
    for pair in pairs:
        offsets = spans(pair.source, pair.source_words)
        for position, each in enumerate(pair.source_words):
            if each != word:
                continue
            english = [pair.target_words[target] for source, target in pair.alignment if source == position]
            meant = [sense for prefix, sense in senses.items() for one in english if one.startswith(prefix)]
            if meant:
                found.append(SenseOccurrence(pair, *offsets[position], meant[0]))
    return found


def states_by_layer(translator: Translator, found: Sequence[SenseOccurrence]) -> Tensor:
    """Compute the encoder's states at each occurrence: its row of the embedding, then its state after each block.

    Returns:
        [layers + 1, occurrences, d_model]; a word of several tokens has the mean of their states.
    """
    model, tokenizer = translator.model, translator.source_tokenizer
    rows = []
    for one in found:
        activations = Activations()
        pieces = tokenizer.pieces(one.pair.source)

        with torch.no_grad():
            model.encode(torch.tensor([[piece.id for piece in pieces]]), activations)
        tokens = [n for n, piece in enumerate(pieces) if piece.start < one.end and piece.end > one.start]
        layers = ["embedding.source", *(f"encoder.{n}.residual.output" for n in range(len(model.encoder)))]
        rows.append(torch.stack([activations[name][0, tokens].mean(0) for name in layers]))
    return torch.stack(rows, 1)


def sense_separation(states: Tensor, senses: Sequence[str]) -> tuple[float, float, float]:
    """Compute the mean cosine within and across senses, and how often the nearest other state has the same sense."""
    rows = torch.nn.functional.normalize(states - states.mean(0), dim=1)
    cosines = rows @ rows.T
    same = torch.tensor([[a == b for b in senses] for a in senses])
    other = ~torch.eye(len(senses), dtype=torch.bool)
    nearest = cosines.masked_fill(~other, -2).argmax(1)
    right = same[torch.arange(len(senses)), nearest].float().mean()
    return float(cosines[same & other].mean()), float(cosines[~same].mean()), float(right)

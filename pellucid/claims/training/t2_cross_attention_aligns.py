"""T2: cross-attention learns which word corresponds to which."""

from collections.abc import Sequence

import torch
from torch import Tensor

from pellucid.claims.activations import Activations
from pellucid.claims.claim import Effort, Setup, at_least, at_most, claim
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds, share_over_seeds
from pellucid.demo.language import DemoPair, spans
from pellucid.evaluation.alignment_error import alignment_error_rate
from pellucid.tokenizers import Piece
from pellucid.translator import Translator

__all__ = ["CLAIM", "diagonal", "measure", "word_weights"]

Links = set[tuple[int, int]]


def _tokens_of(pieces: Sequence[Piece], offsets: list[tuple[int, int]]) -> list[list[int]]:
    """List the tokens that overlap each word."""
    return [[n for n, piece in enumerate(pieces) if piece.start < end and piece.end > start] for start, end in offsets]


def word_weights(translator: Translator, pair: DemoPair) -> Tensor:
    """Sum the attention of each head from target words to source words, [heads of all layers, target, source].

    The reference is given; the weights are those that predict its tokens.
    """
    source, target = translator.source_tokenizer, translator.target_tokenizer
    pieces, target_pieces = source.pieces(pair.source), target.pieces(pair.target)
    activations = Activations()
    with torch.no_grad():
        translator.model(
            torch.tensor([[*(piece.id for piece in pieces), source.end_id]]),
            torch.tensor([[target.start_id, *(piece.id for piece in target_pieces[:-1])]]),
            activations,
        )
    heads = torch.cat([x[0] for name, x in activations.items() if name.endswith("cross_attention.weights")])
    columns = [heads[..., tokens].sum(-1) for tokens in _tokens_of(pieces, spans(pair.source, pair.source_words))]
    by_word = torch.stack(columns, -1)
    rows = [by_word[:, tokens].mean(1) for tokens in _tokens_of(target_pieces, spans(pair.target, pair.target_words))]
    return torch.stack(rows, 1)


def _links(weights: Tensor) -> Links:
    return {(int(best), target) for target, best in enumerate(weights.argmax(1))}


def diagonal(pair: DemoPair) -> Links:
    """Link each target word to the source word at the same relative position, which needs the lengths only."""
    sources, targets = len(pair.source_words), len(pair.target_words)
    return {(min(sources - 1, (2 * n + 1) * sources // (2 * targets)), n) for n in range(targets)}


def measure(setup: Setup, shuffled: bool = False) -> Evidence:
    """Find the head that aligns best on validation sentences and score it on test sentences.

    Args:
        shuffled: score it against the alignments of other sentences.
    """
    rates, gains, records = [], [], []
    for seed in setup.every_seed():
        trained, fresh = demo_translator(setup.steps, seed), demo_translator(0, seed)
        valid, test = trained.data.valid[:50], trained.data.test[: setup.size]
        true_of_valid, true = ([set(pair.alignment) for pair in pairs] for pairs in (valid, test))
        if shuffled:
            true = true[1:] + true[:1]
        found = {}
        for when, translator in (("trained", trained.translator), ("at first", fresh.translator)):
            of_valid = [word_weights(translator, pair) for pair in valid]
            links_by_head = zip(*([_links(head) for head in weights] for weights in of_valid), strict=True)
            by_head = [alignment_error_rate(list(links), true_of_valid) for links in links_by_head]
            best = by_head.index(min(by_head))
            found[when] = alignment_error_rate([_links(word_weights(translator, pair)[best]) for pair in test], true)
        found["diagonal"] = alignment_error_rate([diagonal(pair) for pair in test], true)
        rates.append(found["trained"])
        gains.append(found["diagonal"] - found["trained"])
        records += [{"links": way, "seed": str(seed), "error_rate": rate} for way, rate in found.items()]
    numbers = {"error_rate": share_over_seeds(rates), "better_than_the_diagonal_by": mean_over_seeds(gains)}
    return Evidence(numbers, records, Figure("bar", "links", "error_rate", "seed"))


CLAIM = claim(
    measure,
    at_least("better_than_the_diagonal_by", 0.1, fails_at=0.0),
    at_most("error_rate", 0.5, fails_at=0.65),
    effort=Effort(Setup(seeds=3, steps=150, size=60), Setup(seeds=6, steps=1_500, size=200)),
)

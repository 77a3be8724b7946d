"""H3: heads live in orthogonal subspaces."""

from itertools import combinations
from typing import cast

import torch
from torch import Tensor

from pellucid.claims.claim import Effort, Setup, at_most, claim
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Evidence, Figure, paired_difference, share_over_seeds
from pellucid.claims.small_models import torch_generator
from pellucid.layers.attention import Attention
from pellucid.models.encoder_decoder import EncoderDecoder

__all__ = ["CLAIM", "measure", "overlap"]

_MATRICES = ("query", "key", "value")


def overlap(one: Tensor, other: Tensor) -> float:
    """Compute the mean squared cosine of the principal angles of two row spaces: 0 if orthogonal, 1 if equal.

    Source:
        Björck & Golub 1973.
    """
    bases = [torch.linalg.qr(matrix.T)[0] for matrix in (one, other)]
    return float(torch.linalg.svdvals(bases[0].T @ bases[1]).square().mean())


def _attentions(model: EncoderDecoder) -> list[Attention]:
    """List the self-attention of each layer of the encoder."""
    found = [block.self_attention for block in model.encoder]
    assert all(isinstance(attention, Attention) for attention in found)
    return cast("list[Attention]", found)


def _of_model(model: EncoderDecoder) -> dict[str, float]:
    """Compute the mean overlap of two heads of a layer, by matrix."""
    found: dict[str, list[float]] = {name: [] for name in _MATRICES}
    for attention in _attentions(model):
        for name in _MATRICES:
            weight = getattr(attention, name).weight.detach()
            found[name] += [overlap(a, b) for a, b in combinations(weight.chunk(attention.n_heads), 2)]
    return {name: sum(values) / len(values) for name, values in found.items()}


def measure(setup: Setup) -> Evidence:
    """Compare the overlap of heads' row spaces, trained and untrained, with that of random subspaces."""
    found: dict[tuple[str, str], list[float]] = {}
    for seed in setup.every_seed():
        models = {"at first": demo_translator(0, seed), "trained": demo_translator(setup.steps, seed)}
        for when, trained in models.items():
            for name, value in _of_model(trained.translator.model).items():
                found.setdefault((when, name), []).append(value)
        attention = _attentions(trained.translator.model)[0]
        random = torch_generator(seed, "H3")
        shapes = 2, attention.d_head, attention.query.in_features
        drawn = [overlap(*torch.randn(shapes, generator=random)) for _ in range(50)]
        found.setdefault(("random", "any"), []).append(sum(drawn) / len(drawn))
    records = []
    for (when, name), values in found.items():
        mean = share_over_seeds(values)
        records.append({"subspaces": when, "matrix": name, **mean.columns("overlap")})
    trained_mean = [sum(found["trained", name][n] for name in _MATRICES) / 3 for n in range(setup.seeds)]
    numbers = {
        "overlap_trained": share_over_seeds(trained_mean),
        "overlap_random": share_over_seeds(found["random", "any"]),
        "trained_less_random": paired_difference(trained_mean, found["random", "any"]),
    }
    return Evidence(numbers, records, Figure("bar", "subspaces", "overlap", "matrix"))


CLAIM = claim(
    measure,
    at_most("overlap_trained", 0.05, fails_at=0.15),
    effort=Effort(Setup(seeds=3, steps=150), Setup(seeds=6, steps=1_500)),
)

"""P6: a trained head uses the four parts differently."""

from itertools import combinations

import torch

from pellucid.claims.claim import Effort, Setup, at_least, claim
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds, paired_difference
from pellucid.demo.language import DemoPair
from pellucid.inspection.score_decomposition import FOUR_PARTS, decompose_scores
from pellucid.translator import Translator

__all__ = ["CLAIM", "measure", "shares_of_variance"]


def shares_of_variance(translator: Translator, pairs: tuple[DemoPair, ...]) -> torch.Tensor:
    """Compute each part's share in the variance of a head's scores over keys, [heads 4]."""
    total = torch.zeros(())
    for pair in pairs:
        look = translator.look(pair.source, target=pair.target)
        found = decompose_scores(look, "encoder.0.self_attention").parts
        parts = torch.stack([torch.from_numpy(found[part].values) for part in FOUR_PARTS])
        # What is the same for all keys of a query has no effect on the softmax.
        total = total + parts.var(-1, unbiased=False).mean(-1)
    return (total / total.sum(0)).T


def _apart(shares: torch.Tensor) -> float:
    """Average the distance between the shares of two heads: 0 if equal, 1 if they have nothing in common."""
    return float(torch.stack([(a - b).abs().sum() / 2 for a, b in combinations(shares, 2)]).mean())


def measure(setup: Setup) -> Evidence:
    """Compare how heads share their scores among the four parts, before and after training."""
    before: list[float] = []
    after: list[float] = []
    records: list[dict[str, object]] = []
    for seed in setup.every_seed():
        for when, steps, values in (("before", 0, before), ("after", setup.steps, after)):
            trained = demo_translator(steps, seed)
            shares = shares_of_variance(trained.translator, trained.data.test[:40])
            values.append(_apart(shares))
            if seed == setup.seed:
                records += [
                    {
                        "head": str(head), "part": part.replace("_", "–"), "share": float(shares[head, index]),
                        "training": when,
                    }
                    for head in range(len(shares))
                    for index, part in enumerate(FOUR_PARTS)
                ]  # fmt: skip
    numbers = {
        "distance_of_heads_after": mean_over_seeds(after),
        "distance_of_heads_before": mean_over_seeds(before),
        "gain": paired_difference(after, before),
    }
    return Evidence(numbers, records, Figure("bar", "head", "share", "part", column="training"))


CLAIM = claim(
    measure,
    at_least("gain", 0.05, fails_at=0.0),
    at_least("distance_of_heads_after", 0.1, fails_at=0.05),
    effort=Effort(Setup(seeds=3, steps=150), Setup(seeds=6, steps=1_500)),
)

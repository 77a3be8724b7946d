"""P5: a score is the sum of four parts of content and position."""

from collections.abc import Iterable

import numpy

from pellucid.claims.claim import Effort, Setup, at_most, claim
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.inspection.score_decomposition import ScoreDecomposition, decompose_scores

__all__ = ["CLAIM", "measure"]


def measure(setup: Setup, splits: Iterable[ScoreDecomposition] | None = None) -> Evidence:
    """Compare the sum of the parts with the score, relative to the largest score of the sentence, for every head."""
    largest: float = 0.0
    records: list[dict[str, object]] = []
    for split in _decompositions(setup) if splits is None else splits:
        largest = max(largest, split.error / float(numpy.abs(split.scores.values).max()))
        records = records or [
            {"head": str(head), "part": name.replace("_", "–"), "mean_square": float((part.values[head] ** 2).mean())}
            for head in range(len(split.scores.values))
            for name, part in split.parts.items()
        ]
    return Evidence(
        exact_values(largest_relative_difference=largest), records, Figure("bar", "head", "mean_square", "part")
    )


def _decompositions(setup: Setup) -> Iterable[ScoreDecomposition]:
    trained = demo_translator(setup.steps, setup.seed)
    looks = (trained.translator.look(pair.source, target=pair.target) for pair in trained.data.test[:20])
    return (decompose_scores(look, "encoder.0.self_attention") for look in looks)


CLAIM = claim(
    measure, at_most("largest_relative_difference", 1e-4), effort=Effort(Setup(steps=150), Setup(steps=1_500))
)

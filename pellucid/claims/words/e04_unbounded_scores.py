"""E4: skip-gram raises the scores of context words without bound."""

import math

from pellucid.claims.claim import Setup, at_least, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.demo.micro_world import micro_training

__all__ = ["CLAIM", "measure"]

_STEPS = (2_000, 8_000)
_NEVER_ITSELF = ((0, 1), (0, 2))  # 猫 occurs beside 吃 and 鱼 equally often, and never beside itself
_ALL_OCCUR = ((0, 1), (0, 2), (0, 0))


def measure(setup: Setup, separable: tuple[tuple[int, int], ...] = _NEVER_ITSELF) -> Evidence:
    """Train skip-gram and follow the scores for 猫: of its two contexts, and of itself."""
    records = []
    ends: dict[str, list[dict[str, float]]] = {}
    for name, sentences in (("one word never occurs", separable), ("every word occurs", _ALL_OCCUR)):
        for step in micro_training("skip-gram", _STEPS[1], rate=0.1, seed=setup.seed, sentences=sentences):
            if step.step not in _STEPS and step.step % 500:
                continue
            of_cat = step.w_in[0] @ step.w_out
            gap, between = float(of_cat[1:].mean() - of_cat[0]), float(abs(of_cat[1] - of_cat[2]))
            records += [
                {"step": step.step, "world": name, "pair": "context − 猫", "gap": gap},
                {"step": step.step, "world": name, "pair": "context − context", "gap": between},
            ]
            if step.step in _STEPS:
                shares = _softmax(of_cat.tolist())
                ends.setdefault(name, []).append({"gap": gap, "between": between, "share": shares[1]})
    (early, late), (bounded_early, bounded_late) = ends["one word never occurs"], ends["every word occurs"]
    numbers = exact_values(
        growth_of_gap=late["gap"] - early["gap"],
        growth_where_every_word_occurs=bounded_late["gap"] - bounded_early["gap"],
        gap_between_contexts=late["between"],
        probability_of_a_context=late["share"],
    )
    return Evidence(numbers, records, Figure("line", "step", "gap", "pair", column="world"))


def _softmax(scores: list[float]) -> list[float]:
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / sum(powers) for power in powers]


CLAIM = claim(
    measure,
    at_least("growth_of_gap", 0.46, fails_at=0.1),
    outside=(at_least("growth_where_every_word_occurs", 0.46, fails_at=0.1),),
)

"""E3: CBOW learns to predict 吃 between 猫 and 鱼."""

from collections.abc import Sequence

from pellucid.claims.claim import Effort, Setup, at_least, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.demo.micro_world import SENTENCE, micro_training

__all__ = ["CLAIM", "measure"]

_STEPS = 6_000
_SHOWN = (1, 3, 10, 30, 100, 300, 1_000, 3_000, _STEPS)


def measure(setup: Setup, sentences: Sequence[Sequence[int]] = (SENTENCE,)) -> Evidence:
    """Train the micro world with full softmax; record the probability of 吃 between 猫 and 鱼, and the matrices."""
    records, lowest, ratio = [], 1.0, 0.0
    for seed in setup.every_seed():
        probability, half = 0.0, 0.0
        due = list(_SHOWN)
        for step in micro_training("cbow", _STEPS, seed=seed, sentences=sentences):
            if step.context == ("猫", "鱼"):
                probability = float(step.probabilities[1])
                if step.step >= due[0]:
                    records.append(
                        {
                            "step": step.step, "seed": str(seed), "probability": probability, "loss": step.loss,
                            "w_in": step.w_in.tolist(), "w_out": step.w_out.tolist(),
                        }
                    )  # fmt: skip
                    due = [shown for shown in due if shown > step.step] or [_STEPS + 1]
                if step.step <= _STEPS // 2:
                    half = probability
        lowest, ratio = min(lowest, probability), max(ratio, (1 - probability) / max(1 - half, 1e-300))
    return Evidence(
        exact_values(lowest_probability=lowest, remaining_after_doubling=ratio),
        records,
        Figure("line", "step", "probability", "seed", log_x=True),
    )


CLAIM = claim(
    measure,
    at_least("lowest_probability", 0.99),
    at_most("remaining_after_doubling", 0.75),
    effort=Effort(Setup(seeds=3), Setup(seeds=3)),
)

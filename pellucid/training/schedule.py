"""How the learning rate and the weight of guidance change over a run."""

import math
from collections.abc import Callable

from pellucid.training.config import TrainingConfig, TranslatorTrainingConfig

__all__ = ["SCHEDULES", "guided_weight", "learning_rate"]

MIN_SHARE = 0.02
"""Share of the peak rate that decaying schedules do not fall below, so that the last steps still learn."""

Schedule = Callable[[int, float, int], float]

SCHEDULES: dict[str, Schedule] = {
    "linear": lambda step, progress, warmup: max(MIN_SHARE, 1 - progress),
    "cosine": lambda step, progress, warmup: (
        MIN_SHARE + (1 - MIN_SHARE) * (1 + math.cos(math.pi * min(progress, 1.0))) / 2
    ),
    "inverse_sqrt": lambda step, progress, warmup: math.sqrt(max(warmup, 1) / max(step, warmup, 1)),
    "constant": lambda step, progress, warmup: 1.0,
}


def learning_rate(config: TrainingConfig, step: int, progress: float) -> float:
    """Compute the learning rate of a step.

    Args:
        step: number of the step, from 1.
        progress: share of the run that has passed since its first step.

    Source:
        Vaswani et al. 2017, eq. 3 for the inverse square root, here scaled so that its peak is `learning_rate`.
    """
    warmup = min(1.0, step / config.warmup_steps) if config.warmup_steps else 1.0
    return config.learning_rate * warmup * SCHEDULES[config.schedule](step, progress, config.warmup_steps)


def guided_weight(config: TranslatorTrainingConfig, progress: float) -> float:
    """Compute the weight of the guided-alignment loss, which falls linearly to 0 at `guided_until`."""
    return config.guided_weight * max(0.0, 1 - progress / config.guided_until)

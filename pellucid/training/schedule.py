"""The learning rate over a run."""

import math
from collections.abc import Callable

from pellucid.training.config import TrainingConfig, TranslatorTrainingConfig

__all__ = ["SCHEDULES", "guided_weight", "learning_rate"]

MIN_SHARE = 0.02  # share of the highest rate at which the schedules that end stay, so that the last steps still learn

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
    """Return the learning rate of an update.

    Args:
        config: its highest rate, warm-up and shape.
        step: which update it is, counted from 1.
        progress: share of the updates' steps or time that has passed; what was prepared before them does not count.

    Source:
        Vaswani et al. 2017, eq. 3 for the inverse square root, here scaled to reach `learning_rate` at its top.
    """
    warmup = min(1.0, step / config.warmup_steps) if config.warmup_steps else 1.0
    return config.learning_rate * warmup * SCHEDULES[config.schedule](step, progress, config.warmup_steps)


def guided_weight(config: TranslatorTrainingConfig, progress: float) -> float:
    """Return the weight of the guided-alignment loss: linear from its start to 0 at `guided_until`."""
    return config.guided_weight * max(0.0, 1 - progress / config.guided_until)

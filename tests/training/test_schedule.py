import math

import pytest

from pellucid.training.config import TranslatorTrainingConfig
from pellucid.training.schedule import MIN_SHARE, SCHEDULES, guided_weight, learning_rate


@pytest.mark.parametrize("schedule", sorted(SCHEDULES))
def test_every_schedule_warms_up_linearly_to_the_highest_rate(schedule: str) -> None:
    config = TranslatorTrainingConfig.model_validate({"learning_rate": 0.4, "warmup_steps": 10, "schedule": schedule})
    assert learning_rate(config, 1, 0.0) == pytest.approx(0.04)
    assert learning_rate(config, 5, 0.0) == pytest.approx(0.2)
    assert learning_rate(config, 10, 0.0) == pytest.approx(0.4)


def test_the_shapes_after_the_warm_up() -> None:
    def rate(schedule: str, step: int, progress: float) -> float:
        config = TranslatorTrainingConfig.model_validate(
            {"learning_rate": 1.0, "warmup_steps": 100, "schedule": schedule}
        )
        return learning_rate(config, step, progress)

    assert rate("linear", 500, 0.25) == pytest.approx(0.75)
    assert rate("linear", 500, 1.0) == MIN_SHARE
    assert rate("cosine", 500, 0.5) == pytest.approx(MIN_SHARE + (1 - MIN_SHARE) / 2)
    assert rate("cosine", 500, 1.0) == pytest.approx(MIN_SHARE)
    assert rate("inverse_sqrt", 400, 0.9) == pytest.approx(math.sqrt(100 / 400))
    assert rate("constant", 400, 0.9) == 1.0


def test_no_warm_up_begins_at_the_top() -> None:
    assert learning_rate(TranslatorTrainingConfig(learning_rate=1.0, warmup_steps=0), 1, 0.0) == 1.0


def test_guidance_falls_to_nothing() -> None:
    config = TranslatorTrainingConfig(guided_weight=2.0, guided_until=0.5)
    assert [guided_weight(config, p) for p in (0.0, 0.25, 0.5, 0.9)] == [2.0, 1.0, 0.0, 0.0]

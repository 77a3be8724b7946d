"""How much of a run has passed: for its end, and for what follows a schedule."""

from typing import Any, cast

import pytest
import torch
from torch import nn

from pellucid.training.clock import Clock
from pellucid.training.config import TrainingConfig
from pellucid.training.run import Run
from pellucid.training.state import TrainingState


class StoppedClock(Clock):
    """A clock that stands."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def seconds(self) -> float:
        """Return where it stands."""
        return self._seconds


def run(seconds: float, state: TrainingState, **settings: object) -> Run:
    model = nn.Linear(1, 1)
    return Run(
        config=TrainingConfig.model_validate(settings),
        model=model,
        optimizer=torch.optim.SGD(model.parameters()),
        average=None,
        task=cast(Any, None),
        micro_batch_tokens=1,
        clock=StoppedClock(seconds),
        folder=cast(Any, None),
        state=state,
    )


@pytest.mark.parametrize(("seconds", "passed", "updates"), [(80, 2 / 3, 0.0), (100, 5 / 6, 0.5), (120, 1.0, 1.0)])
def test_what_preparing_took_counts_for_the_end_and_not_for_the_schedule(
    seconds: float, passed: float, updates: float
) -> None:
    going = run(seconds, TrainingState(prepared=80.0), minutes=2, steps=None)
    assert going.progress() == pytest.approx(passed)
    assert going.schedule_progress() == pytest.approx(updates)


def test_steps_count_whatever_preparing_took() -> None:
    going = run(80, TrainingState(step=3, prepared=80.0), minutes=None, steps=4)
    assert going.progress() == going.schedule_progress() == 0.75


def test_a_run_that_was_prepared_for_longer_than_it_may_take_is_over() -> None:
    going = run(80, TrainingState(prepared=80.0), minutes=1, steps=None)
    assert going.progress() == going.schedule_progress() == 1.0

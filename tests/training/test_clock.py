"""The clock of a run counts CPU time for the threads that spent it."""

import pytest

from pellucid.training import clock
from pellucid.training.replicas import use_threads


def test_cpu_time_counts_for_the_threads_that_spent_it(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = iter([100.0, 120.0, 125.0, 125.0])
    monkeypatch.setattr("pellucid.training.clock.time.process_time", lambda: next(cpu))
    with use_threads(2):
        run = clock.Clock("cpu", before=3.0)
        assert run.seconds() == 3.0 + 20 / 2
    with use_threads(1):
        assert run.seconds() == 3.0 + 20 / 2 + 5
        assert run.seconds() == 18.0

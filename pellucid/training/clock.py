"""How much of a run has passed."""

import time

import torch

__all__ = ["Clock"]


class Clock:
    """Seconds of work, those of earlier sittings of the run included.

    Args:
        kind: `wall`, or `cpu` for the process's processor time divided by its threads.
        before: seconds of earlier sittings.
    """

    def __init__(self, kind: str, before: float = 0.0) -> None:
        self._cpu = kind == "cpu"
        self._start = self._now() - before

    def seconds(self) -> float:
        """Return the seconds so far."""
        return self._now() - self._start

    def _now(self) -> float:
        return time.process_time() / torch.get_num_threads() if self._cpu else time.monotonic()

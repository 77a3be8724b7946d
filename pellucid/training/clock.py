"""How much time a run has spent."""

import time

import torch

__all__ = ["Clock"]


class Clock:
    """Seconds spent on a run, earlier sessions included.

    Args:
        kind: `wall`, or `cpu` for the CPU time of the process divided by its threads.
        before: seconds of earlier sessions.
    """

    def __init__(self, kind: str, before: float = 0.0) -> None:
        self._cpu = kind == "cpu"
        self._seconds = before
        self._last = self._now()

    def seconds(self) -> float:
        """Seconds so far; CPU time since the last call counts for the threads of now, so call it before they change."""
        now = self._now()
        self._seconds += (now - self._last) / (torch.get_num_threads() if self._cpu else 1)
        self._last = now
        return self._seconds

    def _now(self) -> float:
        return time.process_time() if self._cpu else time.monotonic()

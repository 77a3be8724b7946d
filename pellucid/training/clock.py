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
        self._start = self._now() - before

    def seconds(self) -> float:
        """Seconds so far."""
        return self._now() - self._start

    def _now(self) -> float:
        return time.process_time() / torch.get_num_threads() if self._cpu else time.monotonic()

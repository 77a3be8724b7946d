"""Ctrl-C during a training: it stops where nothing is lost."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from pellucid.cli import console

__all__ = ["STOPPED", "Stop"]

STOPPED = 130  # exit code of a program that Ctrl-C ended


class Stop:
    """What Ctrl-C does: it breaks off, or, where it is asked to wait, is noted; a second one breaks off then too."""

    def __init__(self, what_follows: str) -> None:
        """Say `what_follows` when it waits: "Stopping after this step, with a checkpoint"."""
        self._what_follows = what_follows
        self.waits = False
        self.asked = False

    @contextmanager
    def heeded(self) -> Iterator[None]:
        """Let Ctrl-C do that within the block."""
        before = signal.signal(signal.SIGINT, self._note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.asked or not self.waits:
            raise KeyboardInterrupt
        self.asked = True
        with suppress(RuntimeError):  # that stderr was just being written to
            console.say(f"{self._what_follows}; Ctrl-C once more stops at once.")

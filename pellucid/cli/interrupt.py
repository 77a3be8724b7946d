"""Ctrl-C during a training: it stops where nothing is lost."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from pellucid.cli import console

__all__ = ["EXIT_INTERRUPTED", "Interrupt"]

EXIT_INTERRUPTED = 130  # exit code of a program that Ctrl-C ended


class Interrupt:
    """What Ctrl-C does: it breaks off, or, where it is asked to wait, is noted; a second one breaks off then too."""

    def __init__(self, what_follows: str) -> None:
        """Say `what_follows` when it waits: "Stopping after this step, with a checkpoint"."""
        self._what_follows = what_follows
        self.deferred = False
        self.requested = False

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Let Ctrl-C do that within the block."""
        before = signal.signal(signal.SIGINT, self._note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.requested or not self.deferred:
            raise KeyboardInterrupt
        self.requested = True
        with suppress(RuntimeError):  # that stderr was just being written to
            console.log(f"{self._what_follows}; Ctrl-C once more stops at once.")

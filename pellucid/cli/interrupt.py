"""Ctrl-C during long work: it stops where nothing is lost."""

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from types import FrameType

from pellucid.cli import console

__all__ = ["EXIT_INTERRUPTED", "Interrupt", "handle_signal"]

EXIT_INTERRUPTED = 130
"""Exit code of a program stopped by Ctrl-C."""


@contextmanager
def handle_signal(number: int, handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Let `handler` handle a signal within the block."""
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


class Interrupt:
    """A handler of Ctrl-C that raises KeyboardInterrupt, or only notes the request while interrupts are deferred.

    A second Ctrl-C always raises.

    Args:
        announcement: shown when a request is noted, such as "Stopping after this step, with a checkpoint".

    Attributes:
        deferred: whether a request is to be noted instead of raised.
        requested: whether one has been noted.
    """

    def __init__(self, announcement: str) -> None:
        self._announcement = announcement
        self.deferred = False
        self.requested = False

    def handled(self) -> AbstractContextManager[None]:
        """Handle Ctrl-C within the block."""
        return handle_signal(signal.SIGINT, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.requested or not self.deferred:
            raise KeyboardInterrupt
        self.requested = True
        with suppress(RuntimeError):  # stderr was being written to
            console.log(f"{self._announcement}; press Ctrl-C again to stop at once.")

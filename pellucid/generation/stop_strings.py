"""Stop strings: text is shown while it is generated, but never text that a stop string would remove."""

from collections.abc import Sequence

__all__ = ["StopStrings"]


class StopStrings:
    """Passes text on up to the first stop string, which may stretch over several pushes.

    Text that could be the beginning of a stop string is held back until it is known not to be one. The first stop
    string is the one completed first, and the longest of those completed together: so the result does not depend on
    how the text was split.

    Attributes:
        found: the stop string that was found; None so far.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self.found: str | None = None
        self._stops = tuple(stops)
        self._held = ""

    def push(self, text: str) -> str:
        """Add text; return what is known to precede any stop string, and nothing once one is found."""
        if self.found is not None:
            return ""
        if not self._stops:
            return text
        text = self._held + text
        found = [(start + len(stop), start, stop) for stop in self._stops if (start := text.find(stop)) >= 0]
        if found:
            _, start, self.found = min(found)
            self._held = ""
            return text[:start]
        keep = max((_beginning(text, stop) for stop in self._stops), default=0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def end(self) -> str:
        """End the text; return what was still held back."""
        held, self._held = self._held, ""
        return held


def _beginning(text: str, stop: str) -> int:
    """Count the last characters of `text` that are a beginning of `stop`, shorter than all of it."""
    for length in range(min(len(stop) - 1, len(text)), 0, -1):
        if text.endswith(stop[:length]):
            return length
    return 0

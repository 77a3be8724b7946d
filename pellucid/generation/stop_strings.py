"""Text shown while it is generated: whole characters only, and nothing that a stop string would take back."""

import codecs
from collections.abc import Sequence

__all__ = ["CharacterStream", "StopStrings"]


class CharacterStream:
    """Bytes in, the characters that are whole out; the bytes of the next one are held until it is."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, data: bytes) -> str:
        """Return the characters that are whole now."""
        return self._decoder.decode(data)

    @property
    def held(self) -> bytes:
        """Bytes of a character that is not whole."""
        return bytes(self._decoder.getstate()[0])


class StopStrings:
    """Text in, out what comes before the first stop string; it may stretch over any number of pushes.

    Text that could be the beginning of a stop string is held until it is known not to be. The first is the one that is
    complete first, of several at once the longest: so the text does not depend on where it was split.

    Attributes:
        found: the string that was found; None so far.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self.found: str | None = None
        self._stops = tuple(stops)
        self._held = ""

    def push(self, text: str) -> str:
        """Return what is known to come before any stop string; nothing once one is found."""
        if self.found is not None:
            return ""
        if not self._stops:
            return text
        text = self._held + text
        places = [(place + len(stop), place, stop) for stop in self._stops if (place := text.find(stop)) >= 0]
        if places:
            _, place, self.found = min(places)
            self._held = ""
            return text[:place]
        keep = max((_beginning(text, stop) for stop in self._stops), default=0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def end(self) -> str:
        """Return what is still held: the text is over, and no stop string will come of it."""
        held, self._held = self._held, ""
        return held


def _beginning(text: str, stop: str) -> int:
    """Return how many last characters of `text` are the beginning of `stop`, at most all but one of it."""
    for length in range(min(len(stop) - 1, len(text)), 0, -1):
        if text.endswith(stop[:length]):
            return length
    return 0

"""A continuation that is read while it comes."""

from collections.abc import Callable, Iterator

from pellucid.generation.generated_text import Generation

__all__ = ["TextStream"]


class TextStream:
    """The text of a continuation as it comes: `for text in stream: …`; whole characters, and nothing is taken back.

    Attributes:
        generation: all that is known of it, once the text is over; None before.
    """

    def __init__(self, texts: Iterator[str], finish_reason: Callable[[], Generation]) -> None:
        self.generation: Generation | None = None
        self._texts = texts
        self._finish = finish_reason

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        for text in self._texts:
            if text:
                return text
        if self.generation is None:
            self.generation = self._finish()
        raise StopIteration

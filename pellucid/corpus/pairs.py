"""A sentence pair, and where in the user's files it stands."""

from typing import NamedTuple

__all__ = ["Location", "SentencePair"]


class Location(NamedTuple):
    """A line of a file; lines count from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class SentencePair(NamedTuple):
    """A source sentence, its translation, and where each of them stands."""

    source: str
    target: str
    source_location: Location
    target_location: Location

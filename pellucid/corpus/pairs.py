"""Sentence pairs and their locations in the user's files."""

from typing import NamedTuple

__all__ = ["Location", "SentencePair"]


class Location(NamedTuple):
    """A line of a file; lines count from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class SentencePair(NamedTuple):
    """A source sentence, its translation, and the location of each."""

    source: str
    target: str
    source_location: Location
    target_location: Location

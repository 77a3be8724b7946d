"""Sentence pairs, their locations in the user's files, and the issues that their reader found."""

from typing import NamedTuple

__all__ = ["Issue", "LanguagePair", "Location", "RawPair", "SentencePair", "decode"]


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


class Issue(NamedTuple):
    """Something that a reader found wrong.

    Attributes:
        check: the doctor's name for it, as in `pellucid doctor --list`.
        location: file and line.
        message: what is wrong there, without the location.
    """

    check: str
    location: Location
    message: str


class RawPair(NamedTuple):
    """Source and target as they are in the file; do not use the texts of a pair with issues.

    Exception: the reader itself fixes the issues `bom` and `line-separator` and only reports them.
    """

    source: str
    target: str
    source_location: Location
    target_location: Location
    issues: tuple[Issue, ...] = ()


class LanguagePair(NamedTuple):
    """The language codes of both sides, None where unknown.

    Attributes:
        source, target: codes such as `zh` or `pt-BR`.
        requested: whether the user named them; otherwise they come from the files.
    """

    source: str | None = None
    target: str | None = None
    requested: bool = False


def decode(line: bytes, location: Location) -> tuple[str, tuple[Issue, ...]]:
    r"""Decode a line of UTF-8; if it is not UTF-8, wrong bytes are shown as `\xff` and an issue is added."""
    try:
        return line.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        message = f"not UTF-8: byte {error.start + 1} of the line is 0x{line[error.start]:02x}"
        return line.decode("utf-8", "backslashreplace"), (Issue("encoding", location, message),)

"""A sentence pair as it stands in the file, with what is wrong with its line: what every reader yields."""

from typing import NamedTuple

from pellucid.corpus.pairs import Location

__all__ = ["Issue", "LanguagePair", "RawPair", "decode"]


class Issue(NamedTuple):
    """Something that a reader could not read.

    Args:
        check: the doctor's id for it, as in `pellucid doctor --list`.
        place: file and line.
        message: what is wrong there, without the place.
    """

    check: str
    location: Location
    message: str


class RawPair(NamedTuple):
    """A source and a target as they stand in the file; with faults the texts are not to be used.

    The faults `bom` and `line-separator` are mended by the reader and only told.
    """

    source: str
    target: str
    source_location: Location
    target_location: Location
    issues: tuple[Issue, ...] = ()


class LanguagePair(NamedTuple):
    """The codes of both sides, None where unknown.

    Args:
        source: code of the source language, such as `zh` or `pt-BR`.
        target: code of the target language.
        asked: whether the user named them; otherwise the files did.
    """

    source: str | None = None
    target: str | None = None
    requested: bool = False


def decode(line: bytes, location: Location) -> tuple[str, tuple[Issue, ...]]:
    r"""Return the text of a line of UTF-8, and a fault if it is not UTF-8 (then wrong bytes are shown as `\xff`)."""
    try:
        return line.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        message = f"not UTF-8: byte {error.start + 1} of the line is 0x{line[error.start]:02x}"
        return line.decode("utf-8", "backslashreplace"), (Issue("encoding", location, message),)

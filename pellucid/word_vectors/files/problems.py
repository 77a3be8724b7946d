r"""What was odd about a file of vectors: said once for each kind, with how often and where first.

row-count        the header promises more rows than there are, or fewer
cut-off          the file ends within a row
ragged-row       a line does not end in as many numbers as the others; it is left out
not-finite       a vector holds NaN or an infinity; it is left out
duplicate-word   a word stands twice; the first row is kept
encoding         a word is not UTF-8; its bad bytes are written as \xff
no-word          a row has numbers but no word; its word is the empty string
number-in-word   a word ends in a number with a point: perhaps a row with a number too many; kept
escape           a word does not hold to the escapes it is said to have; kept as it is
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pellucid.errors import UserError

__all__ = ["FileProblem", "LoadReport", "ProblemLog"]

_STRICT = "It was read with `strict`: mend the file, or read it without to leave such rows out where need be."


class FileProblem(NamedTuple):
    """A kind of trouble with a file.

    Attributes:
        kind: from the list above.
        message: what it is, for people.
        place: `file:line` of the first, or the file and its byte.
        times: how many there are.
    """

    kind: str
    message: str
    place: str
    times: int


@dataclass(frozen=True)
class LoadReport:
    """How a file was read.

    Attributes:
        path: the file.
        format: word2vec-text, word2vec-binary, glove, fasttext or native.
        rows: rows that the file has, whole or not.
        oddities: what was odd, in the order in which it was met; empty for a clean file.
    """

    path: str
    format: str
    rows: int
    problems: tuple[FileProblem, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return it for `--json`."""
        return {**vars(self), "problems": [problem._asdict() for problem in self.problems]}


class ProblemLog:
    """Collects what is odd about a file; under `strict`, the first is an error."""

    def __init__(self, path: str | Path, strict: bool) -> None:
        self.path = str(path)
        self.strict = strict
        self._found: dict[str, tuple[str, str, int]] = {}

    def add(self, kind: str, message: str, place: int | str, *, plural: str = "", count: int = 1) -> None:
        """Note something odd.

        Args:
            message: what it is, of one.
            place: number of the line, from 1, or words for it, as in "byte 17".
            plural: what it is of several; `{}` is how many.
            count: how many of them this is.

        Raises:
            UserError: under `strict`.
        """
        where = f"{self.path}:{place}" if isinstance(place, int) else f"{self.path}, {place}"
        if self.strict:
            raise UserError(message, where=where, hint=_STRICT)
        said, first, before = self._found.get(kind, (message, where, 0))
        total = before + count
        self._found[kind] = (plural.replace("{}", f"{total:,}", 1) if plural and total > 1 else said, first, total)

    def found(self) -> tuple[FileProblem, ...]:
        """Return what was noted, in the order in which it was first met."""
        return tuple(FileProblem(kind, message, place, count) for kind, (message, place, count) in self._found.items())

r"""Problems of a file of vectors, reported once per kind, with their number and where the first one is.

row-count        the header promises more rows than there are, or fewer
cut-off          the file ends within a row
ragged-row       a line does not end in as many numbers as the others; it is skipped
not-finite       a vector contains NaN or infinity; it is skipped
duplicate-word   a word is repeated; the first row is kept
encoding         a word is not valid UTF-8; its invalid bytes are written as \xff
no-word          a row has numbers but no word; its word is the empty string
number-in-word   a word ends in a number with a decimal point: perhaps a row with one number too many; kept
escape           a word is not a valid escape sequence; kept unchanged
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pellucid.errors import UserError

__all__ = ["FileProblem", "LoadReport", "ProblemLog"]

_STRICT = "Fix the file, or read it without `strict`, which skips or repairs such rows."


class FileProblem(NamedTuple):
    """A kind of problem in a file.

    Attributes:
        kind: from the list above.
        where: `file:line` of the first one, or the file and its byte.
        occurrences: how many there are.
    """

    kind: str
    message: str
    where: str
    occurrences: int


@dataclass(frozen=True)
class LoadReport:
    """How a file was read.

    Attributes:
        format: word2vec-text, word2vec-binary, glove, fasttext or native.
        rows: number of rows in the file, including incomplete ones.
        problems: in the order in which they were met; empty for a clean file.
    """

    path: str
    format: str
    rows: int
    problems: tuple[FileProblem, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Convert to JSON types."""
        return {**vars(self), "problems": [problem._asdict() for problem in self.problems]}


class ProblemLog:
    """Collects the problems of a file; with `strict`, the first one is raised."""

    def __init__(self, path: str | Path, strict: bool) -> None:
        self.path = str(path)
        self.strict = strict
        self._found: dict[str, FileProblem] = {}

    def add(self, kind: str, message: str, position: int | str, *, plural: str = "") -> None:
        """Add a problem.

        Args:
            message: description of one.
            position: line number, from 1, or words such as "byte 17".
            plural: description of several; `{}` is replaced by their number.

        Raises:
            UserError: with `strict`.
        """
        where = f"{self.path}:{position}" if isinstance(position, int) else f"{self.path}, {position}"
        if self.strict:
            raise UserError(message, where=where, hint=_STRICT)
        problem = self._found.get(kind, FileProblem(kind, message, where, 0))
        total = problem.occurrences + 1
        if plural and total > 1:
            problem = problem._replace(message=plural.replace("{}", f"{total:,}", 1))
        self._found[kind] = problem._replace(occurrences=total)

    def found(self) -> tuple[FileProblem, ...]:
        """List the problems in the order in which they were first met."""
        return tuple(self._found.values())

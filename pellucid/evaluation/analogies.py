"""Accuracy on analogy questions, such as Google's questions-words.txt.

The result includes the coverage: accuracy over a tenth of the questions is not comparable to accuracy over all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from pellucid.errors import UserError
from pellucid.evaluation.question_files import parse_number, read_question_lines, rows_by_word
from pellucid.word_vectors.analogies import METHODS, Method
from pellucid.word_vectors.keyed_vectors import KeyedVectors
from pellucid.word_vectors.neighbours import ROUNDING, search, unit_rows

__all__ = ["AnalogyScores", "SectionScore", "analogy_accuracy", "is_analogy_file"]


class SectionScore(NamedTuple):
    """Accuracy on a section of analogy questions.

    Attributes:
        covered: number of questions whose four words are all among the words searched.
        correct: number of correct answers when a, b and c are excluded, as is usual.
        correct_unexcluded: number of correct answers when they are not: the more honest figure.
    """

    name: str
    questions: int
    covered: int
    correct: int
    correct_unexcluded: int

    @property
    def coverage(self) -> float | None:
        """Share of the questions that are covered; None without questions."""
        return self.covered / self.questions if self.questions else None

    @property
    def accuracy(self) -> float | None:
        """Accuracy on the covered questions with a, b and c excluded; None if none is covered."""
        return self.correct / self.covered if self.covered else None

    @property
    def accuracy_unexcluded(self) -> float | None:
        """Accuracy on the covered questions with nothing excluded; None if none is covered."""
        return self.correct_unexcluded / self.covered if self.covered else None

    def as_dict(self) -> dict[str, Any]:
        """Convert to JSON types, with the shares."""
        shares = {name: getattr(self, name) for name in ("coverage", "accuracy", "accuracy_unexcluded")}
        return {**self._asdict(), **shares}


@dataclass(frozen=True)
class AnalogyScores:
    """Accuracy on a file of analogy questions.

    Attributes:
        sections: in file order.
        restrict: number of most frequent words searched; None for all.
    """

    sections: tuple[SectionScore, ...]
    restrict: int | None
    method: str

    @property
    def total(self) -> SectionScore:
        """All sections combined."""
        return _summed("total", self.sections)

    @property
    def semantic(self) -> SectionScore:
        """The semantic sections: countries, currencies, families."""
        return _summed("semantic", [one for one in self.sections if not one.name.startswith("gram")])

    @property
    def syntactic(self) -> SectionScore:
        """The syntactic sections, whose names begin with `gram`."""
        return _summed("syntactic", [one for one in self.sections if one.name.startswith("gram")])

    def as_dict(self) -> dict[str, Any]:
        """Convert to JSON types."""
        groups = (self.total, self.semantic, self.syntactic)
        return {
            **{group.name: group.as_dict() for group in groups},
            "sections": [section.as_dict() for section in self.sections],
            "restrict": self.restrict,
            "method": self.method,
        }


def analogy_accuracy(
    vectors: KeyedVectors,
    file: str | Path,
    *,
    restrict: int | None = 30_000,
    method: Method = "3CosAdd",
    ignore_case: bool = True,
) -> AnalogyScores:
    """Compute the accuracy on a file of analogy questions: four words per line, sections headed by `: name`.

    Args:
        restrict: search only this many of the most frequent words, as is usual; None for all.
        method: the scoring formula, see `pellucid.word_vectors.analogies`.
        ignore_case: whether to compare words case-insensitively; of words that differ in case only, the most frequent
            one is used.

    Raises:
        UserError: if the file cannot be read, or a line does not have four words.

    Source:
        Mikolov et al. 2013 (Efficient Estimation), sec. 4.1; Rogers, Drozd & Li 2017 on excluding the question's words.
    """
    if method not in METHODS:
        raise UserError(f"unknown analogy method {method!r}", where="method", hint=f"Use {' or '.join(METHODS)}.")
    row_of = rows_by_word(vectors, restrict, ignore_case)
    names, section_of, questions = _read_questions(file)
    fold = str.casefold if ignore_case else str
    rows = numpy.array([[row_of.get(fold(word), -1) for word in question] for question in questions]).reshape(-1, 4)
    asked = numpy.flatnonzero((rows >= 0).all(axis=1))
    allowed = numpy.zeros(len(vectors), numpy.bool_)
    allowed[list(row_of.values())] = True
    right = numpy.zeros((2, len(questions)), numpy.bool_)
    queries, clear = _queries(vectors, rows[asked], method)
    found = search(vectors.search_index, queries, 4, formula=METHODS[method], allowed=allowed)
    for question, answer in zip(asked[clear].tolist(), found, strict=True):
        *own, expected = rows[question].tolist()
        best = answer.rows.tolist()
        right[0, question] = next((row for row in best if row not in own), -1) == expected
        right[1, question] = best[0] == expected
    sections = []
    for number, name in enumerate(names):
        inside = numpy.array(section_of) == number
        covered = int(inside[asked].sum())
        sections.append(SectionScore(name, int(inside.sum()), covered, *(int(n) for n in right[:, inside].sum(axis=1))))
    return AnalogyScores(tuple(sections), restrict, method)


def is_analogy_file(file: str | Path) -> bool:
    """Whether a file contains analogy questions (sections, or four words per line) and not judgements."""
    for _, text in read_question_lines(file):
        fields = text.split()
        return text.startswith(":") or (
            len(fields) == 4 and not set(text) & set("\t,") and parse_number(fields[3]) is None
        )
    return False


def _queries(
    vectors: KeyedVectors, rows: NDArray[numpy.int64], method: Method
) -> tuple[Sequence[NDArray[numpy.float64]], NDArray[numpy.bool_]]:
    """Compute the query directions [directions d] of questions whose vectors do not cancel out, and which these are."""
    units = unit_rows(vectors.input_vectors[rows[:, :3]])
    if method == "3CosMul":
        return list(units), numpy.ones(len(rows), numpy.bool_)
    sums = units[:, 1] - units[:, 0] + units[:, 2]
    lengths = numpy.sqrt((sums * sums).sum(axis=1, keepdims=True))
    clear = lengths[:, 0] > ROUNDING
    return list((sums[clear] / lengths[clear])[:, None]), clear


def _read_questions(file: str | Path) -> tuple[list[str], list[int], list[list[str]]]:
    """Read the names of the sections, the section of each question, and the questions."""
    names: list[str] = []
    section_of: list[int] = []
    questions: list[list[str]] = []
    for number, text in read_question_lines(file):
        if text.startswith(":"):
            names.append(text[1:].strip())
            continue
        words = text.split()
        if len(words) != 4:
            raise UserError(
                f"expected four words, got {len(words)}: {text[:60]!r}",
                where=f"{file}:{number}",
                hint="Write a question as `Athens Greece Oslo Norway`, a section as `: capitals`.",
            )
        if not names:
            names.append("")
        section_of.append(len(names) - 1)
        questions.append(words)
    if not questions:
        raise UserError(f"{file} has no analogy questions", where=str(file), hint="Expected lines of four words.")
    return names, section_of, questions


def _summed(name: str, sections: Sequence[SectionScore]) -> SectionScore:
    counts = numpy.array([section[1:] for section in sections], numpy.int64).reshape(-1, 4).sum(axis=0)
    return SectionScore(name, *counts.tolist())

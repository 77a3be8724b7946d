"""How good word vectors are: questions of analogy, and people's judgements of similarity.

Both say how much of the file they could ask about: a score over a tenth of the questions is another score. The files
are the usual ones: Google's questions-words.txt; WordSim-353, SimLex-999, MEN and the like.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from numpy.typing import ArrayLike, NDArray

from pellucid.corpus.text_files import read_lines
from pellucid.errors import UserError
from pellucid.word_vectors.analogies import METHODS, Method
from pellucid.word_vectors.keyed_vectors import KeyedVectors
from pellucid.word_vectors.neighbours import ROUNDING, search

__all__ = [
    "AnalogyScores",
    "SectionScore",
    "SimilarityScore",
    "analogy_accuracy",
    "is_analogy_file",
    "similarity_correlation",
    "spearman",
]

_SCORE_NAMES = ("simlex999", "human (mean)", "score", "similarity", "rating", "average")


class SectionScore(NamedTuple):
    """The answers to a group of questions, a is to b as c is to what.

    Attributes:
        questions: how many there are.
        covered: how many have all four words among those searched, and are asked.
        correct: how many are answered right when a, b and c may not be the answer, as is the custom.
        correct_unexcluded: how many are answered right when they may: the honest figure.
    """

    name: str
    questions: int
    covered: int
    correct: int
    correct_unexcluded: int

    @property
    def coverage(self) -> float | None:
        """The share of the questions that are asked; None if there are none."""
        return self.covered / self.questions if self.questions else None

    @property
    def accuracy(self) -> float | None:
        """The share of covered questions answered right, a, b and c excluded; None if none is covered."""
        return self.correct / self.covered if self.covered else None

    @property
    def accuracy_unexcluded(self) -> float | None:
        """The share of covered questions answered right, nothing excluded; None if none is covered."""
        return self.correct_unexcluded / self.covered if self.covered else None

    def as_dict(self) -> dict[str, Any]:
        """Return counts and shares for `--json`."""
        shares = {name: getattr(self, name) for name in ("coverage", "accuracy", "accuracy_unexcluded")}
        return {**self._asdict(), **shares}


@dataclass(frozen=True)
class AnalogyScores:
    """The answers to a file of questions.

    Attributes:
        sections: in the order of the file.
        restrict: how many words, the most frequent ones, were searched; None for all.
        method: 3CosAdd or 3CosMul.
    """

    sections: tuple[SectionScore, ...]
    restrict: int | None
    method: str

    @property
    def total(self) -> SectionScore:
        """All sections together."""
        return _summed("total", self.sections)

    @property
    def semantic(self) -> SectionScore:
        """The sections about the world: countries, currencies, families."""
        return _summed("semantic", [section for section in self.sections if not _is_syntactic(section)])

    @property
    def syntactic(self) -> SectionScore:
        """The sections about forms of words, whose names begin with `gram`."""
        return _summed("syntactic", [section for section in self.sections if _is_syntactic(section)])

    def as_dict(self) -> dict[str, Any]:
        """Return it for `--json`."""
        groups = (self.total, self.semantic, self.syntactic)
        return {
            **{group.name: group.as_dict() for group in groups},
            "sections": [section.as_dict() for section in self.sections],
            "restrict": self.restrict,
            "method": self.method,
        }


class SimilarityScore(NamedTuple):
    """How well cosines agree with people's judgements.

    Attributes:
        spearman: the correlation of the two orders, −1 to 1; None for fewer than two pairs, or when all are alike.
        pairs: how many the file has.
        covered: how many have both words in the vocabulary, and count.
    """

    spearman: float | None
    pairs: int
    covered: int

    @property
    def coverage(self) -> float | None:
        """The share of the pairs that count; None if there are none."""
        return self.covered / self.pairs if self.pairs else None

    def as_dict(self) -> dict[str, Any]:
        """Return it for `--json`."""
        return {**self._asdict(), "coverage": self.coverage}


def analogy_accuracy(
    vectors: KeyedVectors,
    file: str | Path,
    *,
    restrict: int | None = 30_000,
    method: Method = "3CosAdd",
    ignore_case: bool = True,
) -> AnalogyScores:
    """Answer a file of questions, four words a line, sections headed by `: name`.

    Args:
        restrict: search the most frequent words only, so many, as is the custom; None for all.
        method: how a word is scored, see `pellucid.word_vectors.analogies`.
        ignore_case: whether capitals count for nothing; of words that differ in capitals only, the most frequent one
            then stands for all.

    Raises:
        UserError: if the file cannot be read, or a line has not four words.

    Source:
        Mikolov et al. 2013 (Efficient Estimation), sec. 4.1; Rogers, Drozd & Li 2017 on excluding the question's words.
    """
    if method not in METHODS:
        raise UserError(f"unknown method {method!r} for analogies", hint=f"Use {' or '.join(METHODS)}.")
    row_of = _rows_by_word(vectors, restrict, ignore_case)
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


def similarity_correlation(vectors: KeyedVectors, file: str | Path, *, ignore_case: bool = True) -> SimilarityScore:
    """Correlate cosines with a file of judgements, two words and a score a line.

    Columns are separated by tabs, else commas, else spaces; lines that begin with `#` are left out. The score is the
    third column, or the one that a line of names calls so (SimLex999, Human (mean), score …). A pair with a word that
    is not in the vocabulary, or has no direction, does not count.

    Args:
        ignore_case: whether capitals count for nothing; of words that differ in capitals only, the most frequent one
            then stands for all.

    Raises:
        UserError: if the file cannot be read, a line has no score, or there are none.
    """
    row_of = _rows_by_word(vectors, None, ignore_case)
    fold = str.casefold if ignore_case else str
    pairs, judged, cosines = 0, [], []
    for one, other, score in _read_judgements(file):
        pairs += 1
        rows = [row_of.get(fold(word)) for word in (one, other)]
        if None not in rows:
            judged.append(score)
            cosines.append(vectors.similarity(*(vectors.words[row] for row in rows if row is not None)))
    if not pairs:
        raise UserError(
            f"{file} has neither questions nor judgements",
            where=str(file),
            hint="Expected lines as `Athens Greece Oslo Norway` or `tiger cat 7.35`.",
        )
    return SimilarityScore(spearman(judged, cosines), pairs, len(judged))


def spearman(one: ArrayLike, other: ArrayLike) -> float | None:
    """Return Spearman's rank correlation; equals share the mean of their ranks.

    None for fewer than two pairs, or when all of one side are alike.

    Source:
        Spearman 1904; the correlation of ranks.
    """
    left, right = _ranks(one), _ranks(other)
    if len(left) != len(right):
        raise ValueError(f"{len(left)} and {len(right)} numbers cannot be correlated")
    if len(left) < 2:
        return None
    left, right = left - left.mean(), right - right.mean()
    size = math.sqrt(float((left * left).sum()) * float((right * right).sum()))
    return max(-1.0, min(1.0, float((left * right).sum()) / size)) if size > 0 else None


def is_analogy_file(file: str | Path) -> bool:
    """Tell whether a file holds questions of analogy, by sections or four words a line, and not judgements."""
    for _, text in _lines(file):
        fields = text.split()
        return text.startswith(":") or (len(fields) == 4 and not set(text) & set("\t,") and _number(fields[3]) is None)
    return False


def _ranks(values: ArrayLike) -> NDArray[numpy.float64]:
    _, place, counts = numpy.unique(numpy.asarray(values, numpy.float64), return_inverse=True, return_counts=True)
    ranks: NDArray[numpy.float64] = (numpy.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks


def _rows_by_word(vectors: KeyedVectors, restrict: int | None, ignore_case: bool) -> dict[str, int]:
    """Return the rows of the words that are searched, of those that differ in capitals the most frequent one."""
    limit, allowed = vectors.most_frequent(restrict)
    rows = numpy.arange(len(vectors))[:limit] if allowed is None else numpy.flatnonzero(allowed)
    if vectors.counts is not None:
        rows = rows[numpy.argsort(-vectors.counts[rows], kind="stable")]
    words = list(vectors)
    fold = str.casefold if ignore_case else str
    found: dict[str, int] = {}
    for row in rows[~vectors.search_index.zero[rows]].tolist():
        found.setdefault(fold(words[row]), row)
    return found


def _queries(
    vectors: KeyedVectors, rows: NDArray[numpy.int64], method: Method
) -> tuple[Sequence[NDArray[numpy.float64]], NDArray[numpy.bool_]]:
    """Return the directions of each question that has some, [directions d], and which these are."""
    wide = vectors.input_vectors[rows[:, :3]].astype(numpy.float64)
    units = wide / numpy.sqrt((wide * wide).sum(axis=2, keepdims=True))
    if method == "3CosMul":
        return list(units), numpy.ones(len(rows), numpy.bool_)
    sums = units[:, 1] - units[:, 0] + units[:, 2]
    lengths = numpy.sqrt((sums * sums).sum(axis=1, keepdims=True))
    clear = lengths[:, 0] > ROUNDING
    return list((sums[clear] / lengths[clear])[:, None]), clear


def _read_questions(file: str | Path) -> tuple[list[str], list[int], list[list[str]]]:
    """Return the names of the sections, the section of each question, and the questions."""
    names: list[str] = []
    section_of: list[int] = []
    questions: list[list[str]] = []
    for number, text in _lines(file):
        if text.startswith(":"):
            names.append(text[1:].strip())
            continue
        words = text.split()
        if len(words) != 4:
            raise UserError(
                f"expected four words, got {len(words)}: {text[:60]!r}",
                where=f"{file}:{number}",
                hint="A question is `Athens Greece Oslo Norway`, a section `: capitals`.",
            )
        if not names:
            names.append("")
        section_of.append(len(names) - 1)
        questions.append(words)
    if not questions:
        raise UserError(f"{file} has no questions", where=str(file), hint="Expected lines of four words.")
    return names, section_of, questions


def _read_judgements(file: str | Path) -> Iterator[tuple[str, str, float]]:
    column, first = 2, True
    for number, text in _lines(file):
        fields = _fields(text)
        if first and len(fields) > 2 and _number(fields[2]) is None:
            names = [name.casefold() for name in fields]
            column = next((names.index(name) for name in _SCORE_NAMES if name in names), 2)
            first = False
            continue
        first = False
        score = _number(fields[column]) if len(fields) > column else None
        if score is None:
            raise UserError(
                f"expected two words and a score in column {column + 1}, got {text[:60]!r}",
                where=f"{file}:{number}",
                hint="A line is `tiger cat 7.35`, with tabs, commas or spaces between.",
            )
        yield fields[0], fields[1], score


def _lines(file: str | Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are neither blank nor remarks."""
    for number, line in read_lines(file):
        try:
            text = line.decode("utf-8").removeprefix("\ufeff").strip()
        except UnicodeDecodeError as error:
            raise UserError("a line is not UTF-8", where=f"{file}:{number}", hint="Convert the file.") from error
        if text and not text.startswith("#"):
            yield number, text


def _fields(text: str) -> list[str]:
    if "\t" in text:
        return [field.strip() for field in text.split("\t")]
    if "," in text:
        try:
            return [field.strip() for field in next(csv.reader([text]))]
        except csv.Error:  # a field of a length that no word or number has
            return [text]
    return text.split()


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _is_syntactic(section: SectionScore) -> bool:
    return section.name.startswith("gram")


def _summed(name: str, sections: Sequence[SectionScore]) -> SectionScore:
    counts = numpy.array([section[1:] for section in sections], numpy.int64).reshape(-1, 4).sum(axis=0)
    return SectionScore(name, *counts.tolist())

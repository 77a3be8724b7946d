"""Correlation of cosines with human similarity judgements, such as WordSim-353, SimLex-999 and MEN.

The result includes the coverage: correlation over a tenth of the pairs is not comparable to correlation over all.
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy
import scipy.stats
from numpy.typing import ArrayLike

from pellucid.errors import UserError
from pellucid.evaluation.question_files import parse_number, read_question_lines, rows_by_word
from pellucid.word_vectors.keyed_vectors import KeyedVectors

__all__ = ["SimilarityScore", "similarity_correlation", "spearman"]

_SCORE_NAMES = ("simlex999", "human (mean)", "score", "similarity", "rating", "average")


class SimilarityScore(NamedTuple):
    """Correlation of cosines with human judgements.

    Attributes:
        spearman: rank correlation, −1 to 1; None for fewer than two pairs, or if one side is constant.
        pairs: number of pairs in the file.
        covered: number of pairs with both words in the vocabulary.
    """

    spearman: float | None
    pairs: int
    covered: int

    @property
    def coverage(self) -> float | None:
        """Share of the pairs that are covered; None without pairs."""
        return self.covered / self.pairs if self.pairs else None

    def as_dict(self) -> dict[str, Any]:
        """Convert to JSON types."""
        return {**self._asdict(), "coverage": self.coverage}


def similarity_correlation(vectors: KeyedVectors, file: str | Path, *, ignore_case: bool = True) -> SimilarityScore:
    """Correlate cosines with a file of similarity judgements: two words and a score per line.

    Columns are separated by tabs, commas or spaces; lines that begin with `#` are comments. The score is the third
    column, or the one that the header names (SimLex999, Human (mean), score …). A pair with a word that is not in the
    vocabulary, or has a zero vector, is not covered.

    Args:
        ignore_case: whether to compare words case-insensitively; of words that differ in case only, the most frequent
            one is used.

    Raises:
        UserError: if the file cannot be read, a line has no score, or there are no pairs.
    """
    row_of = rows_by_word(vectors, None, ignore_case)
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
            f"{file} contains neither analogy questions nor similarity judgements",
            where=str(file),
            hint="Expected lines such as `Athens Greece Oslo Norway` or `tiger cat 7.35`.",
        )
    return SimilarityScore(spearman(judged, cosines), pairs, len(judged))


def spearman(one: ArrayLike, other: ArrayLike) -> float | None:
    """Compute Spearman's rank correlation; ties share the mean of their ranks.

    None for fewer than two pairs, or if one side is constant.
    """
    left, right = numpy.asarray(one, numpy.float64), numpy.asarray(other, numpy.float64)
    if len(left) != len(right):
        raise ValueError(f"cannot correlate {len(left)} numbers with {len(right)}")
    if len(left) < 2 or (left == left[0]).all() or (right == right[0]).all():
        return None
    return float(scipy.stats.spearmanr(left, right).statistic)


def _read_judgements(file: str | Path) -> Iterator[tuple[str, str, float]]:
    column = 2
    for place, (number, text) in enumerate(read_question_lines(file)):
        fields = _fields(text)
        if place == 0 and len(fields) > 2 and parse_number(fields[2]) is None:  # a header
            names = [name.casefold() for name in fields]
            column = next((names.index(name) for name in _SCORE_NAMES if name in names), 2)
            continue
        score = parse_number(fields[column]) if len(fields) > column else None
        if score is None:
            raise UserError(
                f"expected two words and a score in column {column + 1}, got {text[:60]!r}",
                where=f"{file}:{number}",
                hint="Write a line as `tiger cat 7.35`, separated by tabs, commas or spaces.",
            )
        yield fields[0], fields[1], score


def _fields(text: str) -> list[str]:
    if "\t" in text:
        return [field.strip() for field in text.split("\t")]
    if "," in text:
        try:
            return [field.strip() for field in next(csv.reader([text]))]
        except csv.Error:  # a field longer than any word or number
            return [text]
    return text.split()

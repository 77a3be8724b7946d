"""Files of analogy questions and similarity judgements: their lines, and the words of vectors they refer to."""

import math
from collections.abc import Iterator
from pathlib import Path

from pellucid.corpus.text_files import read_lines
from pellucid.errors import UserError
from pellucid.word_vectors.keyed_vectors import KeyedVectors

__all__ = ["parse_number", "read_question_lines", "rows_by_word"]


def read_question_lines(file: str | Path) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line, without blank lines and comments (`#`).

    Raises:
        UserError: if the file cannot be read or is not UTF-8.
    """
    for number, line in read_lines(file):
        try:
            text = line.decode("utf-8").removeprefix("\ufeff").strip()
        except UnicodeDecodeError as error:
            raise UserError(
                "the line is not valid UTF-8", where=f"{file}:{number}", hint="Convert the file to UTF-8."
            ) from error
        if text and not text.startswith("#"):
            yield number, text


def parse_number(text: str) -> float | None:
    """Parse a finite number; None if it is not one."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def rows_by_word(vectors: KeyedVectors, restrict: int | None, ignore_case: bool) -> dict[str, int]:
    """Map words with a direction to their rows; of words that differ in case only, the most frequent one."""
    fold = str.casefold if ignore_case else str
    words = list(vectors)
    found: dict[str, int] = {}
    for row in vectors.most_frequent_rows(restrict).tolist():
        found.setdefault(fold(words[row]), row)
    return found

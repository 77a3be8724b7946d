"""V5: the last d fields of a line are its numbers, the rest is its word."""

from pathlib import Path

import pytest

from pellucid import WordVectors
from pellucid.vectors import VectorFileWarning


@pytest.mark.parametrize("header", ["4 3\n", ""])
def test_words_may_hold_spaces(tmp_path: Path, header: str) -> None:
    rows = "king 1 2 3\nnew york 4 5 6\n. . . -0.1 0.2 0.3\nat name@domain.com 7 8 9\n"
    (tmp_path / "v.txt").write_text(header + rows, encoding="utf-8")
    vectors = WordVectors.load(tmp_path / "v.txt", strict=True)
    assert list(vectors) == ["king", "new york", ". . .", "at name@domain.com"]
    assert vectors["new york"].tolist() == [4, 5, 6]


def test_also_in_the_first_row_and_with_numbers_in_them(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("iphone 5 1 2 3\n. . . 1 2 3\n7 1 2 3\na 1 2 3\n", encoding="utf-8")
    assert list(WordVectors.load(tmp_path / "v.txt", strict=True)) == ["iphone 5", ". . .", "7", "a"]


def test_a_row_without_a_word_is_that_of_the_empty_word(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("2 3\n 1 2 3\na 4 5 6\n", encoding="utf-8")
    with pytest.warns(VectorFileWarning, match=r"a row has no word .*v\.txt:2"):
        vectors = WordVectors.load(tmp_path / "v.txt")
    assert list(vectors) == ["", "a"]
    assert vectors[""].tolist() == [1, 2, 3]


def test_a_word_that_was_saved_with_a_line_feed_is_told(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("2 3\nnew\nyork 1 2 3\na 4 5 6\n", encoding="utf-8")
    with pytest.warns(VectorFileWarning) as caught:
        vectors = WordVectors.load(tmp_path / "v.txt")
    assert list(vectors) == ["york", "a"]
    assert [str(warning.message).partition(" (")[0] for warning in caught] == [
        "the row 'new' does not end in 3 numbers; it is skipped",
        "the header says 2 rows, the file has 3",
    ]

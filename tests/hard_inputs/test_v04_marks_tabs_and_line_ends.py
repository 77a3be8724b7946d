"""V4: a byte order mark, tabs, CRLF, trailing spaces and a missing last line feed change nothing."""

from pathlib import Path

import numpy
import pytest

from pellucid import WordVectors

ROWS = [("the", "0.1 -2e-3 3"), ("naïve", "4. .5 +6"), ("猫", "0 -0 1E2")]
EXPECTED = numpy.array([[0.1, -0.002, 3], [4, 0.5, 6], [0, 0, 100]], numpy.float32)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("header", ["3 3", "3\t3 ", "  3   3", ""])
@pytest.mark.parametrize("end", ["\n", "\r\n", " \n", "\t \r\n", "\n\n"])
@pytest.mark.parametrize("between", [" ", "\t", "  "])
def test_they_are_read(tmp_path: Path, mark: str, header: str, end: str, between: str) -> None:
    lines = [between.join([word, *numbers.split()]) for word, numbers in ROWS]
    content = mark + end.join([header, *lines] if header else lines)
    (tmp_path / "v.txt").write_bytes(content.encode())
    vectors = WordVectors.load(tmp_path / "v.txt", strict=True)
    assert list(vectors) == ["the", "naïve", "猫"]
    assert numpy.array_equal(vectors.input_vectors, EXPECTED)


def test_other_spaces_belong_to_words(tmp_path: Path) -> None:
    words = ["a\u00a0b", "\u3000", "a\u2028b", "\x85", "a\x0bb", "\x1c", "a\r", "a\rb"]
    (tmp_path / "v.txt").write_text("".join(f"{word} 1 2\n" for word in words), encoding="utf-8", newline="")
    assert list(WordVectors.load(tmp_path / "v.txt", strict=True)) == words


def test_separators_and_line_ends_may_be_mixed(tmp_path: Path) -> None:
    content = "\ufeff3 3\r\nking\t1 2\t3\r\nqueen 1  2 4 \nnew\tyork 5\t6 7"
    (tmp_path / "v.txt").write_bytes(content.encode())
    vectors = WordVectors.load(tmp_path / "v.txt", strict=True)
    assert list(vectors) == ["king", "queen", "new\tyork"]
    assert vectors.input_vectors.tolist() == [[1, 2, 3], [1, 2, 4], [5, 6, 7]]
    # A header that ends as Windows has it, before numbers that are bytes.
    rows = b"".join(word + b" " + EXPECTED[0].astype("<f4").tobytes() for word in (b"a", b"b"))
    (tmp_path / "v.bin").write_bytes(b"2 3\r\n" + rows)
    assert list(WordVectors.load(tmp_path / "v.bin", strict=True)) == ["a", "b"]

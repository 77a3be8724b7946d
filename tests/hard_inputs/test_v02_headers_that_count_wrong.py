"""V2: a header that promises more rows than there are, or fewer, costs no row; strict names the line."""

from pathlib import Path

import numpy
import pytest

from pellucid import UserError, WordVectors
from pellucid.vectors import VectorFileWarning
from pellucid.word_vectors.files import read_vectors

ROWS = "king 1 2 3\nqueen 4 5 6\n"


@pytest.mark.parametrize("promised", [5, 1, 0])
def test_the_rows_that_are_there_are_read(tmp_path: Path, promised: int) -> None:
    (tmp_path / "v.txt").write_text(f"{promised} 3\n{ROWS}", encoding="utf-8")
    with pytest.warns(VectorFileWarning, match=f"the header says {promised} rows, the file has 2"):
        vectors = WordVectors.load(tmp_path / "v.txt")
    assert numpy.array_equal(vectors.input_vectors, [[1, 2, 3], [4, 5, 6]])
    with pytest.raises(UserError, match=f"the header says {promised} rows, the file has 2") as caught:
        WordVectors.load(tmp_path / "v.txt", strict=True)
    assert caught.value.where == (f"{tmp_path / 'v.txt'}:3",)


@pytest.mark.parametrize("promised", [5, 1])
def test_in_a_binary_file_too(tmp_path: Path, promised: int) -> None:
    rows = b"".join(word + b" " + numpy.array([0.1, 0.2], "<f4").tobytes() for word in (b"king", b"queen"))
    (tmp_path / "v.bin").write_bytes(b"%d 2\n" % promised + rows)
    with pytest.warns(VectorFileWarning, match=f"the header says {promised} rows, the file has 2"):
        assert list(WordVectors.load(tmp_path / "v.bin")) == ["king", "queen"]
    with pytest.raises(UserError, match="the file has 2") as caught:
        WordVectors.load(tmp_path / "v.bin", strict=True)
    assert caught.value.where == (f"{tmp_path / 'v.bin'}, byte {4 + len(rows)}",)


def test_a_wrong_number_of_columns_is_refused_with_both_counts(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text(f"2 2\n{ROWS}", encoding="utf-8")
    with pytest.raises(UserError, match=r"2 rows of 2 numbers, but the rows have 3 numbers") as caught:
        WordVectors.load(tmp_path / "v.txt")
    assert caught.value.where == (f"{tmp_path / 'v.txt'}:1",)


@pytest.mark.parametrize("content", ["3 100\n", "3 100", "3 100\n\n"])
def test_a_header_alone_is_no_file_of_vectors(tmp_path: Path, content: str) -> None:
    (tmp_path / "v.txt").write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match="has a header but no vectors"):
        WordVectors.load(tmp_path / "v.txt")


def test_nor_is_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "v.txt").touch()
    with pytest.raises(UserError, match="is empty"):
        WordVectors.load(tmp_path / "v.txt")


def test_nor_are_vectors_of_no_numbers(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("1 0\nking\n", encoding="utf-8")
    with pytest.raises(UserError, match="vectors of dimension 0"):
        WordVectors.load(tmp_path / "v.txt")


def test_rows_of_other_lengths_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = "a 1 2 3\nb 4 5\nc 7 8 9\n\nd\ne 1 2 x\nf 1 2 3\n"
    (tmp_path / "v.txt").write_text(f"6 3\n{rows}", encoding="utf-8")
    with pytest.warns(VectorFileWarning, match=r"3 rows do not end in 3 numbers; they are skipped .*v\.txt:3"):
        vectors = WordVectors.load(tmp_path / "v.txt")
    assert list(vectors) == ["a", "c", "f"]
    assert vectors.report is not None and vectors.report.rows == 6
    with pytest.raises(UserError, match=r"the row 'b 4 5' does not end in 3 numbers") as caught:
        WordVectors.load(tmp_path / "v.txt", strict=True)
    assert caught.value.where == (f"{tmp_path / 'v.txt'}:3",)


def test_the_header_decides_where_rows_do_not_agree(tmp_path: Path) -> None:
    for header, words in (("2 3", ["a"]), ("2 2", ["a 1", "b"])):
        (tmp_path / "v.txt").write_text(f"{header}\na 1 2 3\nb 4 5\n", encoding="utf-8")
        vectors = read_vectors(tmp_path / "v.txt")
        assert list(vectors) == words
    (tmp_path / "v.txt").write_text("a 1 2 3\nb 4 5\n", encoding="utf-8")
    with pytest.raises(UserError, match="rows differ in length"):
        read_vectors(tmp_path / "v.txt")


def test_a_number_too_many_is_told(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("4 2\na .1 .2\nb .1 .2 .3\niphone 5 .1 .2\nc 1 2\n", encoding="utf-8")
    with pytest.warns(VectorFileWarning, match=r"the row 'b .1 .2 .3' has more than 2 numbers"):
        assert list(WordVectors.load(tmp_path / "v.txt")) == ["a", "b .1", "iphone 5", "c"]


@pytest.mark.parametrize("number", ["nan", "-inf", "Infinity", "1e39", "-1e400"])
def test_numbers_that_are_not_finite_cost_their_row(tmp_path: Path, number: str) -> None:
    (tmp_path / "v.txt").write_text(f"3 2\na 1 2\nb 3 {number}\nc 5 6\n", encoding="utf-8")
    with pytest.warns(VectorFileWarning, match="contains NaN or infinity; it is skipped"):
        vectors = WordVectors.load(tmp_path / "v.txt")
    assert list(vectors) == ["a", "c"]
    assert numpy.array_equal(vectors.input_vectors, [[1, 2], [5, 6]])


def test_nor_are_they_read_from_binary(tmp_path: Path) -> None:
    numbers = numpy.array([[0.1, 0.2], [numpy.nan, 1], [3e38, 3e38], [numpy.inf, -numpy.inf]], "<f4")
    rows = b"".join(b"w%d " % row + numbers[row].tobytes() for row in range(4))
    (tmp_path / "v.bin").write_bytes(b"4 2\n" + rows)
    with pytest.warns(VectorFileWarning, match="2 rows contain NaN or infinity"):
        assert list(WordVectors.load(tmp_path / "v.bin")) == ["w0", "w2"]


def test_a_file_without_one_good_row_is_refused(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("2 2\na 1 nan\nb inf 2\n", encoding="utf-8")
    with pytest.raises(UserError, match="has no valid row"):
        WordVectors.load(tmp_path / "v.txt")

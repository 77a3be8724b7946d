"""V7: of a binary file that is cut off the rows before the cut are read; strict names the byte."""

from pathlib import Path

import numpy
import pytest

from pellucid import UserError, WordVectors
from pellucid.vectors import VectorFileWarning

D = 5
NUMBERS = numpy.random.default_rng(1).normal(size=(4, D)).astype("<f4")
ROWS = [b"word%d " % row + NUMBERS[row].tobytes() for row in range(4)]


@pytest.mark.parametrize("cut", [1, 7, 4 * D - 1, 4 * D, 4 * D + 3])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_the_rows_before_are_read(tmp_path: Path, cut: int, end: bytes) -> None:
    whole = b"4 5\n" + end.join(ROWS)
    (tmp_path / "v.bin").write_bytes(whole[:-cut])
    with pytest.warns(VectorFileWarning) as caught:
        vectors = WordVectors.load(tmp_path / "v.bin")
    assert [str(warning.message).split(",")[0] for warning in caught] == [
        "the file ends within a row",
        "the header says 4 rows",
    ]
    assert numpy.array_equal(vectors.input_vectors, NUMBERS[:3])
    begins = 4 + 3 * len(ROWS[0] + end)
    with pytest.raises(UserError, match="the file ends within a row") as error:
        WordVectors.load(tmp_path / "v.bin", strict=True)
    assert error.value.where == (f"{tmp_path / 'v.bin'}, byte {begins}",)


def test_a_packed_file_that_is_cut_is_a_damaged_archive(tmp_path: Path) -> None:
    vectors = WordVectors([f"w{row}" for row in range(500)], numpy.random.default_rng(1).normal(size=(500, 20)))
    vectors.save(tmp_path / "v.bin.gz", "word2vec-binary")
    (tmp_path / "v.bin.gz").write_bytes((tmp_path / "v.bin.gz").read_bytes()[:-1000])
    with pytest.raises(UserError, match="the compressed file is truncated"):
        WordVectors.load(tmp_path / "v.bin.gz")


@pytest.mark.parametrize("wide", [2, 4])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_two_and_four_bytes_with_and_without_line_feeds_are_told_apart(tmp_path: Path, wide: int, end: bytes) -> None:
    numbers = NUMBERS.astype(f"<f{wide}")
    rows = b"".join(b"w%d " % row + numbers[row].tobytes() + end for row in range(4))
    (tmp_path / "v.bin").write_bytes(b"4 5\n" + rows)
    vectors = WordVectors.load(tmp_path / "v.bin", strict=True)
    assert list(vectors) == ["w0", "w1", "w2", "w3"]
    assert numpy.array_equal(vectors.input_vectors, numbers.astype(numpy.float32))


def test_what_could_be_both_has_to_be_said(tmp_path: Path) -> None:
    # Two rows of eight bytes each, "ab" and "cd"; or of four bytes each, "ab" and "EFGHcd", with line feeds behind.
    (tmp_path / "v.bin").write_bytes(b"2 2\nab ABCDEFGHcd ABCD\n\n\n\n")
    with pytest.raises(UserError, match="neither clearly text nor clearly") as caught:
        WordVectors.load(tmp_path / "v.bin", "word2vec-binary")
    assert "float16" in caught.value.hint
    for float16, words in ((True, ["ab", "EFGHcd"]), (False, ["ab", "cd"])):
        assert list(WordVectors.load(tmp_path / "v.bin", float16=float16, strict=True)) == words

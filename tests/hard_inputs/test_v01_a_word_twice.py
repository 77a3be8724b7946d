"""V1: of a word that stands twice the first row is kept, that is said, and the vectors can be saved and read again."""

from pathlib import Path

import numpy
import pytest

from pellucid import UserError, WordVectors
from pellucid.vectors import VectorFileWarning

TEXT = "4 2\nking 1 2\nqueen 3 4\nking 5 6\nking 7 8\n"


def binary(words: list[bytes], d: int = 2) -> bytes:
    rows = [word + b" " + numpy.arange(d, dtype="<f4").tobytes() for word in words]
    return b"%d %d\n" % (len(words), d) + b"".join(rows)


def test_the_first_is_kept_and_the_rest_is_reported_by_line(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text(TEXT, encoding="utf-8")
    with pytest.warns(VectorFileWarning, match="2 rows repeat a word, such as 'king'"):
        vectors = WordVectors.load(tmp_path / "v.txt")
    assert list(vectors) == ["king", "queen"]
    assert vectors["king"].tolist() == [1, 2]
    assert vectors.report is not None
    (problem,) = vectors.report.problems
    assert (problem.kind, problem.where, problem.occurrences) == ("duplicate-word", f"{tmp_path / 'v.txt'}:4", 2)
    assert [neighbour.word for neighbour in vectors.similar("king")] == ["queen"]


@pytest.mark.parametrize("format", ["native", "word2vec-text", "word2vec-binary", "glove", "fasttext"])
def test_what_was_read_can_be_saved_and_read_again_without_a_word(tmp_path: Path, format: str) -> None:
    (tmp_path / "v.txt").write_text(TEXT, encoding="utf-8")
    with pytest.warns(VectorFileWarning):
        vectors = WordVectors.load(tmp_path / "v.txt")
    vectors.save(tmp_path / "again", format)  # type: ignore[arg-type]
    again = WordVectors.load(tmp_path / "again")
    assert list(again) == ["king", "queen"]
    assert numpy.array_equal(again.input_vectors, vectors.input_vectors)


def test_in_a_binary_file_the_byte_is_named(tmp_path: Path) -> None:
    (tmp_path / "v.bin").write_bytes(binary([b"a", b"b", b"a"]))
    with pytest.warns(VectorFileWarning, match=r"the word 'a' is repeated, first in byte 4; .*byte 24"):
        vectors = WordVectors.load(tmp_path / "v.bin")
    assert list(vectors) == ["a", "b"]


def test_bad_bytes_that_look_alike_stay_apart(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_bytes(b"2 1\n\xff 1\n\xfe 2\n")
    with pytest.warns(VectorFileWarning, match="2 words are not valid UTF-8"):
        assert list(WordVectors.load(tmp_path / "v.txt")) == ["\\xff", "\\xfe"]


def test_strict_names_the_line(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text(TEXT, encoding="utf-8")
    with pytest.raises(UserError, match="'king' is repeated, first in line 2") as caught:
        WordVectors.load(tmp_path / "v.txt", strict=True)
    assert caught.value.where == (f"{tmp_path / 'v.txt'}:4",)


def test_words_given_twice_by_hand_are_refused() -> None:
    with pytest.raises(UserError, match="'a' is repeated: rows 0 and 2"):
        WordVectors(["a", "b", "a"], numpy.ones((3, 2), numpy.float32))

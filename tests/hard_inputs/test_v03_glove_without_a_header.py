"""V3: GloVe's form is told from word2vec's; what could be both is not guessed."""

from pathlib import Path

import numpy
import pytest

from pellucid import UserError, WordVectors
from pellucid.vectors import VectorFileWarning


def load(tmp_path: Path, content: str, **options: str) -> WordVectors:
    (tmp_path / "v.txt").write_text(content, encoding="utf-8")
    return WordVectors.load(tmp_path / "v.txt", **options)  # type: ignore[arg-type]


def test_it_is_recognised(tmp_path: Path) -> None:
    vectors = load(tmp_path, "the 0.418 0.24968 -0.41242\n, 0.013441 0.23682 -0.16899\n")
    assert vectors.report is not None and vectors.report.format == "glove"
    assert list(vectors) == ["the", ","]
    assert vectors["the"].tolist() == numpy.array([0.418, 0.24968, -0.41242], numpy.float32).tolist()


def test_numbers_can_be_words(tmp_path: Path) -> None:
    vectors = load(tmp_path, "1 0.1 0.2\n2 0.3 0.4\n1999 0.5 0.6\n")
    assert (list(vectors), vectors.dim) == (["1", "2", "1999"], 2)


def test_so_can_the_first_two_of_a_header(tmp_path: Path) -> None:
    vectors = load(tmp_path, "3 2\n1 0.1 0.2\n2 0.3 0.4\n3 0.5 0.6\n")
    assert (list(vectors), vectors.dim) == (["1", "2", "3"], 2)


def test_what_may_be_a_header_or_a_row_has_to_be_said(tmp_path: Path) -> None:
    content = "7 1\n8 2\n9 3\n"
    with pytest.raises(UserError, match=r"a header \(7 rows of one number\) or the word 7") as caught:
        load(tmp_path, content)
    assert "`format`" in caught.value.hint
    assert list(load(tmp_path, content, format="glove")) == ["7", "8", "9"]
    with pytest.warns(VectorFileWarning, match="header says 7 rows"):
        assert list(load(tmp_path, content, format="word2vec-text")) == ["8", "9"]
    assert list(load(tmp_path, "2 1\n8 2\n9 3\n")) == ["8", "9"]


def test_a_form_that_is_said_is_held_to(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="expected a header in line 1"):
        load(tmp_path, "the 0.1 0.2\n", format="word2vec-text")
    with pytest.raises(UserError, match="unknown format 'word2vec'"):
        load(tmp_path, "the 0.1 0.2\n", format="word2vec")


def test_rows_that_do_not_agree_are_not_guessed(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"2 have 2 numbers, 2 have 3"):
        load(tmp_path, "a 1 2\nb 3 4\nc 1 2 3\nd 4 5 6\n")


@pytest.mark.parametrize(
    "content", ["It was a bright cold day in April.\n", "word\n", "\n\n", "a,0.1,0.2\n", "a 0,1\n"]
)
def test_text_of_another_kind_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(UserError, match="is not a file of word vectors") as caught:
        load(tmp_path, content)
    assert "format" in caught.value.hint

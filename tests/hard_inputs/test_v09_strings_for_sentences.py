"""V9: a list of strings instead of a list of lists: elsewhere its letters are trained as words."""

from pathlib import Path
from typing import Any

import pytest

from pellucid import WordVectors
from pellucid.errors import UserError


@pytest.mark.parametrize(
    "text",
    [
        ["the cat sat", "the dog sat"],
        (line for line in ["the cat sat"]),
        ["corpus.txt", "more.txt"],
        [["the", "cat"], "the dog"],
    ],
)
def test_sentences_that_are_strings_are_refused_with_the_mend(text: Any) -> None:
    with pytest.raises(UserError, match=r"sentence \d is a string, .*: its letters would be trained") as caught:
        WordVectors.train(text, min_count=1)
    assert "[line.split() for line in lines]" in caught.value.hint


@pytest.mark.parametrize("text", [b"the cat", {"the": 1}, 7, [1, 2]])
def test_what_is_no_text_at_all_is_refused(text: Any) -> None:
    with pytest.raises(UserError, match="expected"):
        WordVectors.train(text)


@pytest.mark.parametrize("word", [7, None, ["the"], b"the"])
def test_words_that_are_no_strings_are_refused(word: Any) -> None:
    with pytest.raises(UserError, match=r"expected words as strings, got .* in sentence 1"):
        WordVectors.train([["the", "cat"], ["a", word]], min_count=1)


def test_one_string_is_a_file(tmp_path: Path) -> None:
    for text in ("the cat sat on the mat", "the cat sat\n" * 1000):
        with pytest.raises(UserError, match="no such file") as caught:
            WordVectors.train(text)
        assert "[line.split() for line in text.splitlines()]" in caught.value.hint
    with pytest.raises(UserError, match="no such file: corpus"):
        WordVectors.train("corpus.txt")
    (tmp_path / "my corpus.txt").write_text("a b\n" * 9, encoding="utf-8")
    assert len(WordVectors.train(str(tmp_path / "my corpus.txt"), dim=2, epochs=1)) == 2

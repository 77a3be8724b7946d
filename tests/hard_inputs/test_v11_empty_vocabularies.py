"""V11: a corpus of one type, or a min_count that empties the vocabulary: elsewhere it "trains"."""

from pathlib import Path
from typing import Any

import pytest

from pellucid import WordVectors
from pellucid.errors import UserError
from tests.conftest import Run


def refusal(text: Any, **settings: Any) -> UserError:
    with pytest.raises(UserError) as caught:
        WordVectors.train(text, **settings)
    return caught.value


def test_a_text_of_one_word_is_refused() -> None:
    assert "11 words were read, 1 distinct, all of them 'la'" in refusal([["la"] * 11]).what


def test_a_min_count_that_leaves_nothing_is_refused_with_the_counts() -> None:
    error = refusal([["the", "cat", "the"], ["the", "dog"]] * 2)
    assert "10 words were read, 3 distinct, 1 of them at least min_count = 5 times" in error.what
    assert "'the', 6 times" in error.what
    assert "Lower `--min-count`" in error.hint


@pytest.mark.parametrize("text", [[], [[]], [[], []], iter([])])
def test_a_text_without_words_is_refused(text: Any) -> None:
    assert refusal(text).what == "the text has no words"


def test_sentences_of_one_word_have_no_context(tmp_path: Path) -> None:
    assert "no sentence has two words" in refusal([["cat"], ["dog"]] * 9).what


def test_the_command_says_it_too(tmp_path: Path, run_pellucid: Run) -> None:
    (tmp_path / "empty.txt").write_text("\n \n", encoding="utf-8")
    ended = run_pellucid("train", "vectors", tmp_path / "empty.txt", "-o", tmp_path / "v", "--quiet")
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: the text has no words\n  --> ")
    assert not (tmp_path / "v").exists()


def test_chinese_without_spaces_is_told_of_tokenizers(tmp_path: Path) -> None:
    path = tmp_path / "zh.txt"
    path.write_text("猫吃鱼\n鱼怕猫\n", encoding="utf-8")
    assert "--tokenizer words" in refusal(path).hint

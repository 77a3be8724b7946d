import re

from hypothesis import given
from hypothesis import strategies as st

from pellucid.corpus.words import is_unspaced, split_words


def test_words_of_spaced_scripts_are_runs_of_letters_or_digits() -> None:
    assert split_words("Y acabó Dios, en 3.5 días—don't!") == [
        "Y", "acabó", "Dios", ",", "en", "3", ".", "5", "días", "—", "don", "'", "t", "!",
    ]  # fmt: skip
    assert split_words("x_y") == ["x", "_", "y"]
    assert split_words("물고기를 먹었다") == ["물고기를", "먹었다"]


def test_scripts_without_spaces_come_apart_into_characters() -> None:
    assert split_words("我昨天吃了3条鱼。OK？") == [*"我昨天吃了3条鱼。", "OK", "？"]
    assert split_words("がんばれ𠮷野") == [*"がんばれ𠮷野"]
    assert split_words("สวัสดี") == ["ส", "วั", "ส", "ดี"]


def test_marks_and_joiners_stay_with_their_letters() -> None:
    assert split_words("हिन्दी में") == ["हिन्दी", "में"]
    assert split_words("می\u200cروم") == ["می\u200cروم"]
    assert split_words("e\u0301te\u0301 ❤\ufe0f") == ["e\u0301te\u0301", "❤\ufe0f"]


def test_a_script_without_spaces_is_known_by_its_first_character() -> None:
    assert [is_unspaced(word) for word in ("鱼", "ดี", "fish", "3", "")] == [True, True, False, False, False]


@given(st.text())
def test_nothing_but_white_space_is_dropped(text: str) -> None:
    words = split_words(text)
    assert "".join(words) == re.sub(r"\s", "", text)
    assert all(words)

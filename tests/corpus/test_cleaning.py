"""What is mended in a text without a question."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.corpus.cleaning import clean


@given(st.text())
def test_a_clean_text_is_clean_and_stays_as_it_is(text: str) -> None:
    once = clean(text).text
    assert clean(once) == (once, ())
    assert not any(unicodedata.category(character) == "Cc" for character in once)
    assert len(once.splitlines()) <= 1 and "\ufeff" not in once


@given(st.text(st.characters(exclude_categories=("C", "Z"))))
def test_text_without_controls_and_spaces_is_not_touched(text: str) -> None:
    assert clean(text) == (text, ())


@pytest.mark.parametrize(
    ("text", "expected", "checks"),
    [
        ("A\u2028B", "A B", ["line-separator"]),
        ("A\x85B\x0cC\x1cD\rE", "A B C D E", ["line-separator"]),
        ("\ufeffA", "A", ["bom"]),
        ("A\tB\x1fC", "A B C", ["control-character"]),
        ("A\x00\x07B", "AB", ["control-character"]),
        (" A\u00a0B \t", "A\u00a0B", []),
        ("na\u00efve \u200d \U0001f926\u200d\u2642\ufe0f", "na\u00efve \u200d \U0001f926\u200d\u2642\ufe0f", []),
    ],
)
def test_marks_controls_and_separators_are_mended_and_told(text: str, expected: str, checks: list[str]) -> None:
    cleaned = clean(text)
    assert cleaned.text == expected
    assert [check for check, _ in cleaned.fixed] == checks

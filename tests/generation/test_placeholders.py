import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.generation.placeholders import (
    ProtectedText,
    insert_placeholders,
    placeholder_spans,
    protect,
    protect_pair,
    restore_placeholders,
    unbalanced_tags,
)

PLACEHOLDERS = [
    "{{person.name}}", "{0}", "{name}", "${name}", "{}", "%s", "%1$d", "%(count)d", "%.2f", "###T01###", "<b>", "</b>",
    "<br/>", '<a href="x. y">', "&nbsp;", "https://example.org/a?b=c", "someone@example.org",
]  # fmt: skip
WORDS = ["50%", "of", " ", ". ", "，", "a < b", "{ }", "x > y", "猫", "\\", "100 % sure", "\n", "#1", "<3", "C&A"]


@given(st.lists(st.sampled_from(PLACEHOLDERS + WORDS)).map("".join) | st.text())
def test_a_text_comes_back_from_its_segments(text: str) -> None:
    protected = protect(text)
    assert restore_placeholders(*protected) == text
    assert sum(segment != "" for segment in protected.segments) == len(protected.segments)


@pytest.mark.parametrize("placeholder", PLACEHOLDERS)
def test_each_kind_is_found_whole(placeholder: str) -> None:
    text = f"Hallo {placeholder} Welt"
    assert [text[start:end] for start, end in placeholder_spans(text)] == [placeholder]


@pytest.mark.parametrize("word", WORDS)
def test_plain_text_is_no_placeholder(word: str) -> None:
    assert placeholder_spans(f"Hallo {word} Welt") == []


def test_equal_placeholders_have_one_number() -> None:
    assert protect("{a} and {b} or {a}") == ProtectedText([0, " and ", 1, " or ", 0], ["{a}", "{b}"])


def test_a_pair_is_numbered_alike_or_not_at_all() -> None:
    pair = protect_pair("<b>{a}</b> x", "y <b>{a}</b>")
    assert pair is not None
    assert pair[1].segments == ["y ", 0, 1, 2]
    assert protect_pair("{a} x", "y") is None
    assert protect_pair("x", "y {a}") is None
    assert protect_pair("{a} {a}", "{a}") is None
    assert protect_pair("{a}{b}{c}", "{a}{b}{c}", most=2) is None


def test_bare_text_has_no_doubled_spaces() -> None:
    assert protect("Click <b>here</b> now, {name} !").bare == "Click here now, !"
    assert protect("{a} x").bare == "x"


@pytest.mark.parametrize(
    ("source", "translation", "places", "text"),
    [
        ("Hello {name}!", "Hallo!", [5], "Hallo {name}!"),
        ("你好{name}吗", "Hello you", [6], "Hello {name} you"),
        ("a <b>red</b> cat", "eine rote Katze", [5, 9], "eine <b>rote</b> Katze"),
        ("id_%s", "id_", [3], "id_%s"),
        ("a {x} b", "word", [2], "{x} word"),
        ("<i>a</i> b", "x y", [3, 1], "x y<i></i>"),
    ],
)
def test_placeholders_are_put_between_words_and_tags_stay_balanced(
    source: str, translation: str, places: list[int], text: str
) -> None:
    assert insert_placeholders(protect(source), translation, places) == text


@given(
    st.lists(st.sampled_from(["<b>", "</b>", "<i>", "</i>", "{a}", "x ", "猫"])).map("".join),
    st.text(st.sampled_from("ab 猫。")),
    st.data(),
)
def test_all_placeholders_are_put_in_as_balanced_as_they_were(
    source: str, translation: str, data: st.DataObject
) -> None:
    protected = protect(source)
    count = sum(isinstance(segment, int) for segment in protected.segments)
    places = data.draw(st.lists(st.integers(0, len(translation)), min_size=count, max_size=count))
    again = protect(insert_placeholders(protected, translation, places))
    assert sorted(again.values[n] for n in again.segments if isinstance(n, int)) == sorted(
        protected.values[n] for n in protected.segments if isinstance(n, int)
    )
    assert unbalanced_tags(*again) == unbalanced_tags(*protected)
    kept = "".join(segment for segment in again.segments if isinstance(segment, str))
    assert "".join(kept.split()) == "".join(translation.split())

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.generation.sentence_splitting import join_parts, split_lines, split_long, split_sentences

texts = st.text(st.sampled_from('ab.C 。，!?1\u3000\n\r「」,;\U0001f600中文…"')) | st.text(st.characters(codec="utf-8"))


@given(texts)
def test_no_character_is_lost_by_splitting(text: str) -> None:
    assert "".join(split_lines(text)) == text
    assert "".join(split_sentences(text)) == text


@given(texts, st.integers(1, 12))
def test_parts_are_short_and_joined_are_the_text(text: str, longest: int) -> None:
    parts = split_long(text, lambda part: len(part) > longest)
    assert "".join(parts) == text
    assert all(len(part) <= longest for part in parts)


@given(texts, st.integers(1, 12), st.integers(0, 30), st.integers(1, 20))
def test_a_span_that_is_kept_whole_is_not_cut(text: str, longest: int, start: int, length: int) -> None:
    start = min(start, len(text))
    stop = min(start + length, len(text))
    parts = split_long(text, lambda part: len(part) > longest, [(start, stop)])
    assert "".join(parts) == text
    edges = {len("".join(parts[:n])) for n in range(len(parts))}
    assert not edges & set(range(start + 1, stop))


@given(texts, st.integers(1, 12))
def test_the_same_text_comes_back_when_spaces_are_where_they_are_needed(text: str, longest: int) -> None:
    parts = split_long(text, lambda part: len(part) > longest)
    again = join_parts(parts, [part.strip() for part in parts])
    assert "".join(again.split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("He came. She left! Why? ", ["He came. ", "She left! ", "Why? "]),
        (
            "Mr. Smith paid $3.50 to J. Doe, i.e. nothing. Good.",
            ["Mr. Smith paid $3.50 to J. Doe, i.e. nothing. ", "Good."],
        ),
        ("“Go.” He went.", ["“Go.” ", "He went."]),
        ("他来了。她走了！为什么？", ["他来了。", "她走了！", "为什么？"]),
        ("他说：“走吧。”她走了。", ["他说：“走吧。”", "她走了。"]),
        ("Version 1.2.3 is out at example.org now.", ["Version 1.2.3 is out at example.org now."]),
        ("one… two", ["one… ", "two"]),
        ("", [""]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, parts: list[str]) -> None:
    assert split_sentences(text) == parts


def test_a_short_line_is_left_alone_and_a_long_sentence_is_cut_at_its_commas() -> None:
    assert split_long("One. Two.", lambda part: len(part) > 9) == ["One. Two."]
    assert split_long("One, two, three, four.", lambda part: len(part) > 11) == ["One, two, ", "three, ", "four."]
    assert split_long("第一，第二，第三。", lambda part: len(part) > 6) == ["第一，第二，", "第三。"]


@pytest.mark.parametrize(
    ("parts", "translations", "text"),
    [
        (["他来了。", "她走了。"], ["He came.", "She left."], "He came. She left."),
        (["He came. ", "She left."], ["他来了。", "她走了。"], "他来了。她走了。"),
        (["  Er kam. ", "Sie ging.\t"], ["He came.", "She left."], "  He came. She left.\t"),
        (["ab", "cd"], ["x", "y"], "xy"),
        (["你好。", "再见。"], ["", "Bye."], "Bye."),
        ([" "], [""], " "),
    ],
)
def test_parts_are_joined_with_the_spaces_of_the_language(parts: list[str], translations: list[str], text: str) -> None:
    assert join_parts(parts, translations) == text

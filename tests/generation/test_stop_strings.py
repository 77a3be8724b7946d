from hypothesis import given
from hypothesis import strategies as st

from pellucid.generation.stop_strings import StopStrings
from pellucid.generation.utf8 import CharacterStream

LETTERS = st.text("ab", max_size=14)
STOPS = st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=3)


def letter_by_letter(text: str, stops: list[str]) -> tuple[str, str | None]:
    """Return what comes before the stop string that is complete first, the longest of several at once; and it."""
    for end in range(1, len(text) + 1):
        ended = [stop for stop in stops if text[:end].endswith(stop)]
        if ended:
            longest = max(ended, key=len)
            return text[: end - len(longest)], longest
    return text, None


@given(st.lists(LETTERS, max_size=5), STOPS)
def test_the_text_ends_before_the_first_stop_string_wherever_it_is_split(parts: list[str], stops: list[str]) -> None:
    watch = StopStrings(stops)
    released = [watch.push(part) for part in parts]
    expected, stop = letter_by_letter("".join(parts), stops)
    shown = "".join(released)
    assert watch.found == stop
    assert shown + watch.end() == expected
    assert expected.startswith(shown)


@given(st.lists(LETTERS, max_size=5), STOPS)
def test_nothing_is_held_that_cannot_become_a_stop_string(parts: list[str], stops: list[str]) -> None:
    watch = StopStrings(stops)
    shown = "".join([watch.push(part) for part in parts])
    if watch.found is None:
        held = watch.end()
        assert shown + held == "".join(parts)
        assert held == "" or any(stop.startswith(held) and stop != held for stop in stops)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(1, 3))
def test_characters_come_when_they_are_whole(text: str, step: int) -> None:
    stream, data, shown = CharacterStream(), text.encode(), ""
    for start in range(0, len(data), step):
        shown += stream.push(data[start : start + step])
        whole = data[: start + step].decode(errors="ignore")
        assert shown == whole
        assert whole.encode() + stream.incomplete == data[: start + step]
    assert (shown, stream.incomplete) == (text, b"")

from hypothesis import given
from hypothesis import strategies as st

from pellucid.cli.alignment_drawing import draw_alignment
from pellucid.cli.console import display_width
from pellucid.demo.language import generate


def test_a_shade_is_below_its_source_word_and_beside_its_target_word() -> None:
    weights = {(0, 0): 1.0, (1, 2): 0.6, (2, 1): 0.3, (2, 2): 0.1}
    assert draw_alignment(["我", "昨天", "吃"], ["I", "ate", "yesterday"], weights) == [
        "          我 昨天 吃",
        "        I ██ ·    ·",
        "      ate ·  ·    ▒▒",
        "yesterday ·  ▓▓▓▓ ░░",
    ]


def test_a_long_source_is_drawn_in_blocks() -> None:
    assert draw_alignment(["aaa", "bbb", "ccc"], ["x"], {(0, 0): 1.0, (2, 0): 1.0}, columns=9) == [
        "  aaa bbb",
        "x ███ ·",
        "  ccc",
        "x ███",
    ]


def test_a_word_wider_than_the_terminal_is_drawn_in_full() -> None:
    assert draw_alignment(["a", "猫" * 10], ["x"], {(1, 0): 1.0}, columns=10) == [
        "  a",
        "x ·",
        "  " + "猫" * 10,
        "x " + "█" * 20,
    ]


def test_an_empty_alignment_has_no_lines() -> None:
    assert draw_alignment([], [], {}) == []


@given(st.integers(0, 10_000), st.integers(30, 120))
def test_every_true_link_is_drawn_and_no_line_is_too_long(seed: int, columns: int) -> None:
    pair = generate(1, seed)[0]
    lines = draw_alignment(pair.source_words, pair.target_words, dict.fromkeys(pair.alignment, 1.0), columns)
    assert max(map(display_width, lines)) <= columns
    shaded = sum(display_width(pair.source_words[i]) for i, _ in pair.alignment)
    assert sum(line.count("█") for line in lines) == shaded

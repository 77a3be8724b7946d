"""The likeliest path of offsets, on made-up text with the spread of real translations."""

import numpy
import pytest

from pellucid.corpus.doctor.offset_path import find_offset_path
from pellucid.randomness import generator

WORDS = ["casa", "perro", "gato", "río", "montaña", "camino", "libro", "mesa", "noche", "día", "agua", "luz", "voz"]


def make_text(lines: int, seed: int = 1) -> tuple[list[str], list[str]]:
    """Return lines whose lengths spread as in real text: by 0.6 on each side, by 0.2 between partners."""
    draw = generator(seed, "text")
    source, target = [], []
    for _ in range(lines):
        length = int(numpy.exp(draw.normal(2.2, 0.6))) + 1
        number = f" {draw.integers(1900, 2030)}" if draw.random() < 0.2 else ""
        end = "?" if draw.random() < 0.1 else "."
        words = draw.choice(WORDS, length).tolist()
        theirs = draw.choice(WORDS, max(round(length * numpy.exp(draw.normal(0, 0.2))), 1)).tolist()
        source.append(" ".join(words) + number + end)
        target.append(" ".join(theirs) + number + end)
    return source, target


@pytest.mark.parametrize("lines", [1, 12, 50, 300, 9000])
def test_text_that_is_right_has_no_shift(lines: int) -> None:
    source, target = make_text(lines)
    path = find_offset_path(iter(source), iter(target))
    assert path == ((), lines, lines)


@pytest.mark.parametrize("by", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("side", [0, 1])
def test_lines_missing_on_one_side_are_found_where_they_are_missing(by: int, side: int) -> None:
    sides = make_text(150, seed=by)
    del sides[side][60 : 60 + by]
    path = find_offset_path(iter(sides[0]), iter(sides[1]))
    (change,) = path.changes
    assert change.offset == (by if side == 0 else -by)
    assert abs(change.start - 60) <= 3
    assert change.certain_until <= 60 and change.certain_from >= 60 + (0 if side == 0 else by)


def test_a_shift_that_heals_is_two_jumps() -> None:
    source, target = make_text(300)
    del target[100]
    target.insert(180, "una línea de más.")
    first, second = find_offset_path(iter(source), iter(target)).changes
    assert (first.offset, second.offset) == (-1, 0)
    assert abs(first.start - 100) <= 3 and abs(second.start - 181) <= 3


def test_shifts_are_found_in_every_window_and_add_up() -> None:
    source, target = make_text(12_000)
    for line in (11_000, 7680, 3584, 3583, 20):  # at window ends too
        del source[line : line + 4]
    path = find_offset_path(iter(source), iter(target))
    assert path.changes[-1].offset == 20
    assert (path.source_lines, path.target_lines) == (11_980, 12_000)
    starts = [change.start for change in path.changes]
    assert starts == sorted(starts)


def test_lines_of_equal_lengths_say_nothing_and_are_no_shift() -> None:
    source = [f"línea {WORDS[number % 2][:3]} de dos" for number in range(500)]
    assert find_offset_path(iter(source), iter(source[1:] + source[:1])).changes == ()
    assert find_offset_path(iter([""] * 400), iter([""] * 400)).changes == ()
    assert find_offset_path(iter([]), iter([])) == ((), 0, 0)


def test_unrelated_text_is_no_shift() -> None:
    source, _ = make_text(400, seed=1)
    _, target = make_text(400, seed=2)
    assert find_offset_path(iter(source), iter(target)).changes == ()


def test_one_side_may_be_empty_or_far_longer() -> None:
    source, target = make_text(600)
    assert find_offset_path(iter(source), iter([])) == ((), 600, 0)
    assert find_offset_path(iter([]), iter(target)) == ((), 0, 600)
    assert find_offset_path(iter(source[:100]), iter(target)).target_lines == 600

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.evaluation.alignment_error import alignment_error_rate

links = st.lists(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4))), min_size=3, max_size=3)


def test_it_is_the_formula_of_och_and_ney() -> None:
    predicted = [{(0, 0), (1, 1), (2, 3)}]
    sure = [{(0, 0), (1, 2)}]
    possible = [{(0, 0), (1, 2), (1, 1)}]
    # |A ∩ S| = 1, |A ∩ P| = 2, |A| = 3, |S| = 2
    assert alignment_error_rate(predicted, sure, possible) == pytest.approx(1 - (1 + 2) / (3 + 2))
    assert alignment_error_rate(predicted, sure) == pytest.approx(1 - (1 + 1) / (3 + 2))


def test_possible_includes_sure_whether_said_or_not() -> None:
    assert alignment_error_rate([[(0, 0)]], [[(0, 0)]], [[]]) == 0


def test_sentences_count_together_and_a_link_once() -> None:
    assert alignment_error_rate([[(0, 0), (0, 0)], []], [[(0, 0)], [(1, 1)]]) == pytest.approx(1 - 2 / 3)


def test_nothing_asked_and_nothing_said_is_no_error() -> None:
    assert alignment_error_rate([], []) == 0
    assert alignment_error_rate([[]], [[]]) == 0


def test_different_numbers_of_sentences_are_refused() -> None:
    with pytest.raises(ValueError, match="1 predicted, 2 sure and 2 possible"):
        alignment_error_rate([[]], [[], []])


@given(links, links, links)
def test_it_lies_between_0_and_1_and_possible_links_only_help(
    predicted: list[set[tuple[int, int]]], sure: list[set[tuple[int, int]]], possible: list[set[tuple[int, int]]]
) -> None:
    assert 0 <= alignment_error_rate(predicted, sure, possible) <= alignment_error_rate(predicted, sure) <= 1
    assert alignment_error_rate(sure, sure, possible) == 0

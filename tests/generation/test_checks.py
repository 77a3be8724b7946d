import pytest

from pellucid.generation.checks import check_coverage, check_length, check_numbers, check_repetition


@pytest.mark.parametrize(
    ("source", "translation"),
    [
        ("150 000 neue Fälle", "150,000 new cases"),
        ("180,000", "180.000"),
        ("1.5 km", "1,5 km"),
        ("3万只猫", "30,000 cats"),
        ("2 million", "200万"),
        ("3 Katzen", "three cats"),
        ("２只猫", "2 cats"),
        ("三只猫", "3 cats"),
        ("2010, 300", "2010 300"),
        ("no number", "keine Zahl"),
    ],
)
def test_the_same_number_may_be_written_in_many_ways(source: str, translation: str) -> None:
    assert check_numbers(source, translation) is None


@pytest.mark.parametrize(
    ("source", "translation"),
    [
        ("150 000 neue Fälle", "15,000 new cases"),
        ("180,000", "180,000,000"),
        ("in 1984", "in the year"),
        ("5", "55"),
        ("x", "7 x"),
    ],
)
def test_a_dropped_or_doubled_number_is_told(source: str, translation: str) -> None:
    notice = check_numbers(source, translation)
    assert notice is not None
    assert notice.kind == "number"


@pytest.mark.parametrize(
    ("ids", "loops"),
    [([5, 6, 7, 5, 6], False), ([5, 5, 5], False), ([5, 5, 5, 5], True), ([1, 5, 6, 5, 6, 5, 6, 2], True), ([], False)],
)
def test_a_loop_is_tokens_repeated_in_a_row(ids: list[int], loops: bool) -> None:
    assert (check_repetition([9, 8, 7], ids) is not None) == loops
    assert check_repetition(ids, ids) is None


def test_odd_lengths_are_told_of_longer_texts_only() -> None:
    assert check_length(2, 7) is None
    assert check_length(20, 40) is None
    assert check_length(4, 30) is not None
    assert check_length(30, 4) is not None


def test_a_stretch_that_got_no_attention_is_named() -> None:
    tokens = ["▁a", "▁b", "▁c", "▁d", "▁e", "▁f", "."]
    coverage = [3.0, 0, 0, 0, 0, 0, 0, 0]
    notice = check_coverage(coverage, tokens)
    assert notice is not None
    assert notice.message == "probably not translated: b c d e f."
    coverage[3] = 1.5
    assert check_coverage(coverage, tokens) is None

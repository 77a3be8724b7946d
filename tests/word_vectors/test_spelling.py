import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.word_vectors.spelling import suggest_spellings
from pellucid.word_vectors.vocabulary import Vocabulary

WORDS = ["the", "king", "Paris", "café", "queen", "kind", "猫狗", "kings"]


@pytest.mark.parametrize(
    ("word", "first"),
    [
        ("kign", "king"),
        ("kin", "king"),
        ("kking", "king"),
        ("kong", "king"),
        ("paris", "Paris"),
        ("KING", "king"),
        ("cafe\u0301", "café"),
        ("cafe", "café"),
        ("猫", "猫狗"),
        (" the ", "the"),
    ],
)
def test_the_nearest_comes_first(word: str, first: str) -> None:
    assert suggest_spellings(Vocabulary.of(WORDS), word)[0] == first


def test_of_equally_near_ones_the_earlier_row_wins() -> None:
    assert suggest_spellings(Vocabulary.of(WORDS), "kinx") == ["king", "kind"]


@pytest.mark.parametrize("word", ["", "elephant", "x" * 1000, "\ud800"])
def test_nothing_near_is_nothing(word: str) -> None:
    assert suggest_spellings(Vocabulary.of(WORDS), word) == []


def plain_distance(a: str, b: str) -> int:
    """Count edits by the recursion of the definition, with a table."""
    table = {(i, j): max(i, j) for i in range(len(a) + 1) for j in range(len(b) + 1) if not i or not j}
    for i, j in itertools.product(range(1, len(a) + 1), range(1, len(b) + 1)):
        best = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
        if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
            best = min(best, table[i - 2, j - 2] + 1)
        table[i, j] = best
    return table[len(a), len(b)]


@given(
    words=st.lists(st.text("abé", min_size=1, max_size=8), min_size=1, max_size=8, unique=True),
    word=st.text("abé", min_size=1, max_size=8),
)
def test_distances_are_those_of_the_definition(words: list[str], word: str) -> None:
    most = max(1, len(word) // 3)
    near = [(plain_distance(word, other), row, other) for row, other in enumerate(words)]
    expected = [other for distance, _, other in sorted(near) if distance <= most]
    variants = {word.capitalize(), word.upper(), "e\u0301", word.lower(), word}
    found = suggest_spellings(Vocabulary.of(words), word, len(words))
    assert [other for other in found if other not in variants] == [other for other in expected if other not in variants]

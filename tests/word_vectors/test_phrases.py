import math
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid import WordVectors
from pellucid.errors import UserError
from pellucid.word_vectors.phrases import Phrases, find_phrases, npmi, original_score

TEXT = [["i", "saw", "new", "york"], ["new", "york", "is", "new"], ["york", "new", "york"]] * 5


def test_scores_by_hand() -> None:
    """p(a b) = 1/10, p(a) = p(b) = 1/5: ln(0.1/0.04)/−ln 0.1 = ln 2.5/ln 10. (10 − 5)/20/20 · 400 = 5."""
    assert npmi(10, 20, 20, 100) == pytest.approx(math.log(2.5) / math.log(10))
    assert npmi(7, 7, 7, 100) == pytest.approx(1)
    assert npmi(1, 1, 1, 1) == 1
    assert original_score(10, 20, 20, 400, 5) == pytest.approx(5)


def test_pairs_that_stand_together_are_found_and_joined() -> None:
    phrases = Phrases(find_phrases(TEXT, min_count=15, threshold=0.2).found)
    assert [(one.first, one.second, one.together) for one in phrases.found] == [("new", "york", 15)]
    assert next(phrases.join([["new", "york", "new", "york", "york", "is", "new"]])) == [
        "new_york", "new_york", "york", "is", "new",
    ]  # fmt: skip


@pytest.mark.parametrize("score", ["npmi", "original"])
@given(text=st.lists(st.lists(st.sampled_from("abcd"), max_size=8), min_size=1, max_size=12))
def test_scores_are_those_of_plain_counting(score: str, text: list[list[str]]) -> None:
    words = Counter(word for sentence in text for word in sentence)
    if len(words) < 2:
        return
    pairs = Counter(pair for sentence in text for pair in pairwise(sentence))
    found = find_phrases(text, score=score, threshold=-1.0, min_count=1)  # type: ignore[arg-type]
    expected = {
        (a, b): npmi(n, words[a], words[b], words.total())
        if score == "npmi"
        else original_score(n, words[a], words[b], len(words), 1)
        for (a, b), n in pairs.items()
    }
    kept = {pair: value for pair, value in expected.items() if value > -1}
    assert {(one.first, one.second): one.score for one in found.found} == pytest.approx(kept)
    assert numpy.all(numpy.diff([one.score for one in found.found]) <= 0)


def test_common_words_begin_no_phrase() -> None:
    assert find_phrases([["of", "the"]] * 20 + [["a", "b"]] * 9, threshold=-1.0, common=["of"]).found[0].first == "a"


def test_vectors_are_trained_with_phrases() -> None:
    text = [["to", "new", "york", "city"], ["to", "york"], ["to", "a", "city"], ["new", "to", "a"]] * 9
    settings: dict[str, Any] = {"dim": 4, "epochs": 1, "phrase_threshold": 0.2}
    assert "new_york" in WordVectors.train(iter(text), phrases=1, **settings)
    assert max(word.count("_") for word in WordVectors.train(iter(text), phrases=2, **settings)) >= 2
    assert "new_york" not in WordVectors.train(iter(text), **settings)


def test_of_overlapping_phrases_the_first_is_joined() -> None:
    phrases = find_phrases([["a", "b", "c"]] * 9 + [["d", "e"]] * 9, threshold=0.1)
    assert next(phrases.join([["a", "b", "c"]])) == ["a_b", "c"]
    assert next(Phrases(phrases.found, " ").join([["a", "b"]])) == ["a b"]


def test_thresholds_and_scores_that_cannot_be_are_refused() -> None:
    with pytest.raises(UserError, match="expected a threshold from −1 to 1"):
        find_phrases(TEXT, threshold=5.0)
    with pytest.raises(UserError, match="unknown phrase score"):
        find_phrases(TEXT, score="pmi")  # type: ignore[arg-type]

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.errors import UserError
from pellucid.word_vectors.vocabulary import Vocabulary, _hash, pack_words
from pellucid.word_vectors.word_hashes import hash_words
from tests.word_vectors.example_vectors import any_words

vocabularies = st.lists(any_words | st.sampled_from(["", "\n", " ", "a\nb", "猫", "👩‍👩‍👧"]), max_size=30, unique=True)


@given(words=vocabularies, other=any_words)
def test_it_is_the_list_that_it_was_made_from(words: list[str], other: str) -> None:
    vocabulary = Vocabulary.of(words)
    assert list(vocabulary) == words == [vocabulary[row] for row in range(len(words))] == vocabulary[:]
    assert len(vocabulary) == len(words)
    assert [vocabulary.find(word) for word in words] == list(range(len(words)))
    assert (other in vocabulary) == (other in words)
    assert [vocabulary[-1 - row] for row in range(len(words))] == words[::-1]


@given(words=st.lists(any_words, max_size=20))
def test_repeated_rows_are_found_with_their_first(words: list[str]) -> None:
    expected = {row: words.index(word) for row, word in enumerate(words) if words.index(word) < row}
    assert Vocabulary(*pack_words(words)).duplicates() == expected


@given(words=vocabularies)
def test_a_lookup_computes_the_same_hash_as_the_kernel(words: list[str]) -> None:
    letters, ends = pack_words(words)
    hashes = numpy.empty(len(words), numpy.uint64)
    hash_words(letters, ends, hashes)
    assert hashes.tolist() == [_hash(word.encode()) for word in words]


def test_words_of_equal_hashes_are_told_apart() -> None:
    letters, ends = pack_words(["a", "b", "a", "c"])
    rows = numpy.arange(4, dtype=numpy.int32)
    vocabulary = Vocabulary(letters, ends, numpy.full(4, _hash(b"b"), numpy.uint64), rows)
    assert vocabulary.find("b") == 1
    assert vocabulary.duplicates() == {2: 0}


def test_long_vocabularies_are_gone_through_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pellucid.word_vectors.vocabulary._BLOCK", 3)
    words = ["é", "", "猫猫", "\n", "x" * 300, "", "z"]
    words[5] = "y"
    assert list(Vocabulary.of(words)) == words


def test_what_is_no_string_is_in_no_vocabulary() -> None:
    vocabulary = Vocabulary.of(["1"])
    assert vocabulary.find(1) is None and vocabulary.find(None) is None
    with pytest.raises(UserError, match="expected words as strings, got 1"):
        Vocabulary.of([1])  # type: ignore[list-item]
    with pytest.raises(IndexError):
        vocabulary[1]


def test_there_may_be_no_words_at_all() -> None:
    assert list(Vocabulary.of([])) == []

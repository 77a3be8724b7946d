import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pellucid
from pellucid import UserError, WordVectors
from pellucid.word_vectors import KeyedVectors
from tests.word_vectors.example_vectors import plain_similar, random_vectors, word_vectors


@pytest.fixture
def vectors() -> WordVectors:
    return WordVectors(
        ["king", "queen", "man", "woman"],
        [[3, 3], [3, -3], [1, 2], [1, -2]],
        counts=[10, 40, 30, 20],
        metadata={"epochs": 5},
    )


def test_it_is_a_collection_of_words(vectors: WordVectors) -> None:
    assert (len(vectors), vectors.dim, list(vectors)) == (4, 2, ["king", "queen", "man", "woman"])
    assert "king" in vectors and "kings" not in vectors
    assert vectors["queen"].dtype == numpy.float32 and vectors["queen"].tolist() == [3, -3]
    assert repr(vectors) == "<vectors of 4 words, dim = 2>"


def test_nothing_in_it_can_be_changed_by_mistake(vectors: WordVectors) -> None:
    with pytest.raises(ValueError, match="read-only"):
        vectors["king"][0] = 1
    with pytest.raises(AttributeError):
        vectors.counts = None  # type: ignore[misc]


def test_an_unknown_word_names_those_spelt_like_it(vectors: WordVectors) -> None:
    with pytest.raises(UserError, match="'kign' is not among the 4 words") as caught:
        vectors["kign"]
    assert "Similar to 'kign': 'king'" in caught.value.hint
    with pytest.raises(KeyError):
        vectors.similar("kign")
    with pytest.raises(UserError, match="'x', 'y' are not among the 4 words"):
        vectors.similar(["king", "x", "y", "x"])


def test_a_list_of_words_is_their_mean_direction(vectors: WordVectors) -> None:
    direction = numpy.array([3, 3]) / numpy.sqrt(18) + numpy.array([1, 2]) / numpy.sqrt(5)
    expected = plain_similar(vectors, vectors.unit_vector(direction), 10, ["king", "man"])
    found = vectors.similar(["king", "man"])
    assert [word for word, _ in found] == [word for word, _ in expected] == ["queen", "woman"]
    assert found[0].score == pytest.approx(expected[0][1])


@given(vectors=word_vectors(least=2), factor=st.floats(0.01, 100))
def test_a_vector_asks_for_its_direction_alone(vectors: WordVectors, factor: float) -> None:
    word = next((word for word in vectors if vectors[word].any()), None)
    if word is not None:
        found = vectors.similar(vectors[word].astype(numpy.float64) * factor, len(vectors))
        again = vectors.similar(word, len(vectors), exclude_query=False)
        assert [score for _, score in found] == pytest.approx([score for _, score in again])


def test_restrict_looks_at_the_most_frequent_words(vectors: WordVectors) -> None:
    assert {word for word, _ in vectors.similar("king", restrict=2)} == {"queen", "man"}
    by_row = WordVectors(vectors.words, vectors.input_vectors)
    assert {word for word, _ in by_row.similar("king", restrict=2)} == {"queen"}
    assert len(vectors.similar("king", restrict=100)) == 3


def test_cosines_of_two(vectors: WordVectors) -> None:
    assert vectors.similarity("king", "queen") == pytest.approx(0)
    assert vectors.similarity("man", [1, 2]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ([0.0, 0.0], "query vector is zero"),
        ([1.0], r"a vector of dimension 2, got \[1\.0\]"),
        (numpy.ones(3), r"got an array of shape \(3,\)"),
        (numpy.array(["king"]), "expected a word, a list of words"),
        (None, "got None"),
        ([], r"got \[\]"),
        ([[1.0, 2.0]], "a vector of dimension 2"),
        ([numpy.nan, 1.0], "NaN or infinity"),
    ],
)
def test_a_query_that_is_none_is_refused(vectors: WordVectors, query: list[float], what: str) -> None:
    with pytest.raises(UserError, match=what):
        vectors.similar(query)


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1.0, 1e200, 1e308])
def test_a_query_may_be_of_any_size(vectors: WordVectors, size: float) -> None:
    assert vectors.similarity([size, 2 * size if size < 1e308 else size], "man") > 0.9


def test_words_that_cancel_out_point_nowhere() -> None:
    turns = numpy.arange(3) * 2 * numpy.pi / 3
    vectors = WordVectors(["a", "b", "c"], numpy.stack([numpy.cos(turns), numpy.sin(turns)], axis=1))
    with pytest.raises(UserError, match="the vectors of a, b, c cancel out: its cosine is undefined"):
        vectors.similar(["a", "b", "c"])


@pytest.mark.parametrize("n", [0, -1])
def test_at_least_one_answer_is_asked_for(vectors: WordVectors, n: int) -> None:
    with pytest.raises(UserError, match="at least one neighbour"):
        vectors.similar("king", n)
    with pytest.raises(UserError, match="at least one word"):
        vectors.similar("king", restrict=n)


def test_what_does_not_fit_is_refused() -> None:
    ones = numpy.ones((2, 3), numpy.float32)
    for words, matrix, what in (
        ([], numpy.empty((0, 3)), "the vocabulary is empty"),
        (["a"], ones, "expected 1 rows"),
        (["a", "b"], ones[0], "expected 2 rows"),
        (["a", "b"], ones[:, :0], "expected 2 rows"),
        (["a", "b"], ones.astype(str), "expected 2 rows"),
        ("ab", ones, "got one string"),
    ):
        with pytest.raises(UserError, match=what):
            WordVectors(words, matrix)
    with pytest.raises(UserError, match="input and output vectors differ"):
        WordVectors(["a", "b"], ones, ones[:, :2])
    with pytest.raises(UserError, match="one integer per word"):
        WordVectors(["a", "b"], ones, counts=numpy.ones(2))


def test_float32_rows_are_not_copied() -> None:
    matrix = random_vectors(5, 3).input_vectors
    assert numpy.shares_memory(WordVectors(list("abcde"), matrix).input_vectors, matrix)


def test_it_is_public() -> None:
    assert pellucid.WordVectors is WordVectors


def test_training_needs_a_text() -> None:
    with pytest.raises(UserError, match="no text to train on"):
        WordVectors.train(sentences="corpus.txt")


def test_what_functions_return_is_wrapped_without_a_copy() -> None:
    plain = KeyedVectors(["a", "b"], numpy.eye(2, dtype=numpy.float32), counts=[2, 1], metadata={"x": 1})
    wrapped = WordVectors.of(plain)
    assert numpy.shares_memory(wrapped.input_vectors, plain.input_vectors)
    assert (wrapped.vocabulary, wrapped.metadata, wrapped.similar("a")) == (
        plain.vocabulary,
        plain.metadata,
        plain.similar("a"),
    )

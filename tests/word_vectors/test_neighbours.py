"""The search: exact, whatever the block, the batch and the numbers."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid import UserError, WordVectors
from pellucid.word_vectors.analogies import METHODS
from pellucid.word_vectors.neighbours import COSINE, ScoreFormula, SearchIndex, build_index, search
from tests.word_vectors.example_vectors import numbers, plain_similar, random_vectors, word_vectors


@given(vectors=word_vectors(), n=st.integers(1, 15), data=st.data())
def test_similar_is_its_plain_twin(vectors: WordVectors, n: int, data: st.DataObject) -> None:
    word = data.draw(st.sampled_from(list(vectors)))
    exclude, restrict = data.draw(st.booleans()), data.draw(st.none() | st.integers(1, 15))
    if not vectors[word].any():
        with pytest.raises(UserError, match="cosine is undefined"):
            vectors.similar(word)
        return
    expected = plain_similar(vectors, vectors.unit_vector(word), n, [word] if exclude else [], restrict)
    assert vectors.similar(word, n, exclude_query=exclude, restrict=restrict) == expected


@given(vectors=word_vectors(elements=numbers), data=st.data())
def test_so_it_is_for_the_largest_and_the_smallest_numbers(vectors: WordVectors, data: st.DataObject) -> None:
    words = [word for word in vectors if vectors[word].any()]
    if words:
        word = data.draw(st.sampled_from(words))
        assert vectors.similar(word) == plain_similar(vectors, vectors.unit_vector(word), 10, [word])
        assert vectors.similarity(word, word) == pytest.approx(1)


def found(
    among: SearchIndex,
    queries: list[numpy.ndarray],
    n: int,
    formula: ScoreFormula,
    block_rows: int,
    limit: int | None = None,
) -> list[tuple[list[int], list[float]]]:
    answers = search(among, queries, n, formula=formula, block_rows=block_rows, limit=limit)
    return [(rows.tolist(), scores.tolist()) for rows, scores in answers]


@given(
    vectors=word_vectors(),
    method=st.sampled_from(sorted(METHODS)),
    n=st.integers(1, 15),
    block_rows=st.integers(1, 13),
    limit=st.none() | st.integers(1, 13),
    seed=st.integers(0, 100),
)
def test_blocks_and_batches_of_any_size_give_the_same(
    vectors: WordVectors, method: str, n: int, block_rows: int, limit: int | None, seed: int
) -> None:
    formula, draw = METHODS[method], numpy.random.default_rng(seed)
    queries = []
    for _ in range(3):
        query = draw.normal(size=(len(formula.slopes), vectors.dim))
        queries.append(query / numpy.sqrt((query * query).sum(axis=1, keepdims=True)))
    together = found(vectors.search_index, queries, n, formula, 1000, limit)
    assert found(vectors.search_index, queries, n, formula, block_rows, limit) == together
    assert [found(vectors.search_index, [query], n, formula, block_rows, limit)[0] for query in queries] == together


def test_many_near_ties_are_put_in_order_by_float64() -> None:
    """Rows so alike that float32 cannot order them."""
    draw = numpy.random.default_rng(1)
    base = draw.normal(size=50).astype(numpy.float32)
    rows = numpy.repeat(base[None], 3000, axis=0)
    rows[numpy.arange(3000), draw.integers(50, size=3000)] *= numpy.float32(1 + 1e-6)
    vectors = WordVectors([f"w{row}" for row in range(3000)], rows)
    expected = plain_similar(vectors, vectors.unit_vector(base), 20)
    assert vectors.similar(base, 20) == expected
    query = vectors.unit_vector(base)[None]
    rows_of = [[int(word[1:]) for word, _ in expected]]
    assert [rows for rows, _ in found(vectors.search_index, [query], 20, COSINE, 700)] == rows_of


def test_more_queries_than_a_batch_hold_their_order() -> None:
    vectors = random_vectors(200, 5)
    together = vectors.similar_batch(list(vectors), 3)
    assert together == [vectors.similar(word, 3) for word in vectors]


def test_rows_of_zeros_are_nobodys_neighbours() -> None:
    vectors = WordVectors(["a", "zero", "b", "tiny"], [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1e-40, 0.0]])
    assert [word for word, _ in vectors.similar("a")] == ["tiny", "b"]
    assert vectors.similar("a")[0].score == pytest.approx(1)
    with pytest.raises(UserError, match="the vector of 'zero' is zero: its cosine is undefined"):
        vectors.similar("zero")


def test_numbers_that_are_not_finite_are_named_before_a_search() -> None:
    vectors = WordVectors(["a", "b"], [[1.0, 0.0], [numpy.nan, 1.0]])
    with pytest.raises(UserError, match=r"the vector of 'b' \(row 1\) contains NaN or infinity"):
        vectors.similar("a")
    measured = build_index(numpy.array([[1, numpy.inf], [3e38, 3e38]], numpy.float32))
    assert measured.not_finite.tolist() == [0]

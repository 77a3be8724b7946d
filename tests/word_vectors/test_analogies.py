import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid import UserError, WordVectors
from pellucid.word_vectors.analogies import rank_by_agreement
from tests.word_vectors.example_vectors import plain_cosine, random_vectors, word_vectors


@pytest.fixture
def vectors() -> WordVectors:
    """Royalty along the first axis, sex along the second, fruit along the third."""
    return WordVectors(
        ["man", "woman", "king", "queen", "apple", "pear"],
        [[0, 1, 0.1], [0, -1, 0.1], [1, 1, 0.1], [1, -1, 0.1], [0, 0.1, 1], [0, -0.1, 1]],
    )


@pytest.mark.parametrize("method", ["3CosAdd", "3CosMul"])
def test_man_is_to_king_as_woman_is_to_queen(vectors: WordVectors, method: str) -> None:
    assert vectors.analogy("man", "king", "woman", method=method)[0].word == "queen"  # type: ignore[arg-type]


@given(vectors=word_vectors(least=3), data=st.data(), n=st.integers(1, 12), exclude=st.booleans())
def test_both_methods_are_their_plain_twins(vectors: WordVectors, data: st.DataObject, n: int, exclude: bool) -> None:
    words = [word for word in vectors if vectors[word].any()]
    if not words:
        return
    a, b, c = (data.draw(st.sampled_from(words)) for _ in range(3))
    u, v, w = (vectors.unit_vector(word) for word in (a, b, c))
    candidates = [word for word in words if not (exclude and word in (a, b, c))]

    def multiplied(word: str) -> float:
        x, y, z = ((1 + plain_cosine(vectors[word], unit)) / 2 for unit in (u, v, w))
        return y * z / (x + 0.001)

    total = v - u + w
    scorers = {"3CosMul": multiplied}
    if numpy.abs(total).max() > 1e-5:
        direction = vectors.unit_vector(total)
        scorers["3CosAdd"] = lambda word: plain_cosine(vectors[word], direction)
    for method, score in scorers.items():
        found = vectors.analogy(a, b, c, n, method=method, exclude_query=exclude)  # type: ignore[arg-type]
        scored = sorted((-score(word), vectors.row(word), word) for word in candidates)[:n]
        assert [neighbour.score for neighbour in found] == pytest.approx([-number for number, _, _ in scored])
        assert len({neighbour.word for neighbour in found}) == len(found) == min(n, len(candidates))
        for neighbour in found:
            assert neighbour.score == pytest.approx(score(neighbour.word))


def test_without_exclusion_a_word_of_the_question_may_win(vectors: WordVectors) -> None:
    near = WordVectors(["man", "woman", "king", "queen"], [[1, 0.1], [1, -0.1], [1, 0.3], [1, -0.9]])
    assert near.analogy("man", "king", "woman", 1, exclude_query=False)[0].word in ("man", "woman", "king")
    assert near.analogy("man", "king", "woman", 1)[0].word == "queen"


def test_a_sum_that_points_nowhere_is_told() -> None:
    angles = numpy.array([1, 0, 2]) * numpy.pi / 3
    vectors = WordVectors(["a", "b", "c"], numpy.stack([numpy.cos(angles), numpy.sin(angles)], axis=1))
    with pytest.raises(UserError, match="'b' − 'a' \\+ 'c' cancel out"):
        vectors.analogy("a", "b", "c")


def test_an_unknown_method_is_named(vectors: WordVectors) -> None:
    with pytest.raises(UserError, match="unknown analogy method 'add'"):
        vectors.analogy("man", "king", "woman", method="add")  # type: ignore[arg-type]


def test_the_odd_one_is_the_one_that_points_elsewhere(vectors: WordVectors) -> None:
    assert vectors.odd_one_out(["man", "king", "apple"]) == "apple"
    found = rank_by_agreement(vectors, ["apple", "pear", "man"])
    assert found[-1].word == "man"
    centre = vectors.unit_vector(["apple", "pear", "man"])
    assert [score for _, score in found] == pytest.approx([plain_cosine(vectors[word], centre) for word, _ in found])


@pytest.mark.parametrize("words", [[], ["man"], ["man", "king"], ["man", "king", "man"]])
def test_of_two_words_neither_is_odd(vectors: WordVectors, words: list[str]) -> None:
    with pytest.raises(UserError, match="at least three different words"):
        vectors.odd_one_out(words)


def test_restrict_holds_for_answers_only() -> None:
    vectors = random_vectors(50, 8)
    found = vectors.analogy("w40", "w41", "w42", 100, restrict=10)
    assert {word for word, _ in found} == {f"w{row}" for row in range(10)}


def test_one_string_is_not_a_list_of_letters(vectors: WordVectors) -> None:
    with pytest.raises(UserError, match="expected a list of words, got one string"):
        vectors.odd_one_out("man woman apple")
    with pytest.raises(UserError, match=r"\['man'\] is not among the 6 words"):
        vectors.analogy(["man"], "king", "woman")  # type: ignore[arg-type]

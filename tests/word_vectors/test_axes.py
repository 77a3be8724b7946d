import numpy
import pytest
from hypothesis import given

from pellucid import UserError, WordVectors
from tests.word_vectors.example_vectors import plain_similar, random_vectors, word_vectors


@pytest.fixture
def vectors() -> WordVectors:
    return WordVectors(
        ["man", "he", "woman", "she", "nurse", "soldier", "stone", "zero"],
        numpy.array([[1, -1], [2, -1.5], [1, 1], [2, 1.5], [1, 0.5], [1, -0.5], [1, 0], [0, 0]]),
    )


def test_words_have_their_place_between_the_poles(vectors: WordVectors) -> None:
    axis = vectors.axis(["man", "he"], ["woman", "she"])
    assert axis.position("nurse") > 0 > axis.position("soldier")
    assert axis.position("stone") == pytest.approx(0)
    assert axis.position("nurse") == pytest.approx(-axis.position("soldier"))
    found = axis.positions(["nurse", "stone", "soldier"])
    assert [word for word, _ in found] == ["soldier", "stone", "nurse"]
    assert repr(axis) == "<axis from man, he to woman, she>"


def test_the_direction_is_that_of_the_difference_of_the_means(vectors: WordVectors) -> None:
    axis = vectors.axis(["man", "he"], ["woman"])
    units = {word: vectors[word] / numpy.linalg.norm(vectors[word]) for word in ("man", "he", "woman")}
    difference = units["woman"] - (units["man"] + units["he"]) / 2
    assert axis.direction == pytest.approx(difference / numpy.linalg.norm(difference), abs=1e-6)
    assert numpy.linalg.norm(axis.direction) == pytest.approx(1)


def test_extremes_are_those_of_all_words_without_the_poles(vectors: WordVectors) -> None:
    left, right = vectors.axis(["man", "he"], ["woman", "she"]).extremes(1)
    assert (left[0].word, right[0].word) == ("soldier", "nurse")
    assert left[0].score < 0 < right[0].score
    left, right = vectors.axis(["man", "he"], ["woman", "she"]).extremes(1, exclude_query=False)
    assert (left[0].word, right[0].word) == ("man", "woman")


@given(vectors=word_vectors(least=2))
def test_turned_round_it_is_its_mirror_image(vectors: WordVectors) -> None:
    words = [word for word in vectors if vectors[word].any()]
    try:
        axis = vectors.axis(words[:1], words[1:2])
    except UserError:
        return
    mirrored = vectors.axis(words[1:2], words[:1])
    assert numpy.array_equal(axis.direction, -mirrored.direction)
    assert axis.extremes(20)[0] == [(word, -score) for word, score in mirrored.extremes(20)[1]]
    assert axis.extremes(20)[1] == plain_similar(vectors, axis.direction, 20, words[:2])


def test_restrict_holds_for_extremes() -> None:
    axis = random_vectors(30, 5).axis(["w20"], ["w21"])
    assert {word for word, _ in axis.extremes(30, restrict=7)[0]} == {f"w{row}" for row in range(7)}


@pytest.mark.parametrize(
    ("left", "right", "what"),
    [
        ([], ["man"], "expected a list of words for the left end"),
        (["man"], "woman", "expected a list of words for the right end"),
        (["man", "he"], ["he"], "'he' is on both sides"),
        (["man"], ["kign"], "'kign' is not among"),
        (["man"], ["zero"], "cosine is undefined"),
    ],
)
def test_poles_that_make_no_axis_are_refused(
    vectors: WordVectors, left: list[str], right: list[str], what: str
) -> None:
    with pytest.raises(UserError, match=what):
        vectors.axis(left, right)


def test_poles_that_point_the_same_way_have_nothing_between_them() -> None:
    vectors = WordVectors(["a", "b"], [[1, 2], [2, 4]])
    with pytest.raises(UserError, match="both sides of the axis have the same direction"):
        vectors.axis(["a"], ["b"])


def test_a_word_without_a_direction_has_no_place(vectors: WordVectors) -> None:
    with pytest.raises(UserError, match="'zero' is zero"):
        vectors.axis(["man"], ["woman"]).position("zero")


def test_one_word_has_its_place_too(vectors: WordVectors) -> None:
    axis = vectors.axis(["man"], ["woman"])
    assert axis.positions("nurse") == [("nurse", axis.position("nurse"))]

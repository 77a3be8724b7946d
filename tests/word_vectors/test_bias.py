import math
from collections.abc import Iterable
from itertools import combinations

import numpy
import pytest

from pellucid import UserError, WordVectors
from tests.word_vectors.example_vectors import plain_cosine, random_vectors

FLOWERS, INSECTS = ["rose", "lily", "tulip"], ["ant", "flea", "wasp"]
PLEASANT, UNPLEASANT = ["love", "peace"], ["hatred", "ugly"]


@pytest.fixture
def vectors() -> WordVectors:
    draw = numpy.random.default_rng(2)
    words = FLOWERS + INSECTS + PLEASANT + UNPLEASANT
    side = numpy.array([1, 1, 1, -1, -1, -1, 1, 1, -1, -1])[:, None] * [1.0, 0, 0, 0]
    return WordVectors(words, side + draw.normal(0, 0.3, (len(words), 4)))


def plain_weat(vectors: WordVectors, x: list[str], y: list[str], a: list[str], b: list[str]) -> tuple[float, float]:
    """Compute effect size and p by the definitions, one cosine and one split at a time."""

    def lean(word: str, group: list[str]) -> float:
        return sum(plain_cosine(vectors[word], vectors.unit_vector(other)) for other in group) / len(group)

    def average(words: Iterable[str]) -> float:
        scores = [s[word] for word in words]
        return sum(scores) / len(scores)

    s = {word: lean(word, a) - lean(word, b) for word in x + y}
    spread = math.sqrt(sum((s[w] - average(x + y)) ** 2 for w in x + y) / (len(x + y) - 1))
    difference = average(x) - average(y)
    splits = list(combinations(x + y, len(x)))
    at_least = [split for split in splits if average(split) - average({*x, *y} - {*split}) >= difference - 1e-12]
    return difference / spread, len(at_least) / len(splits)


def test_weat_is_its_definition(vectors: WordVectors) -> None:
    found = vectors.weat(FLOWERS, INSECTS, PLEASANT, UNPLEASANT)
    effect, p = plain_weat(vectors, FLOWERS, INSECTS, PLEASANT, UNPLEASANT)
    assert found.effect_size == pytest.approx(effect) and 1.5 < effect < 2
    assert found.p_value == pytest.approx(p) == pytest.approx(1 / 20)
    assert (found.splits, found.exact, found.skipped) == (20, True, ())
    assert [word for word, _ in found.scores] == FLOWERS + INSECTS


@pytest.mark.parametrize("seed", range(5))
def test_also_for_groups_of_different_sizes_and_no_effect(seed: int) -> None:
    vectors = random_vectors(12, 3, seed)
    groups = [[f"w{row}" for row in rows] for rows in ((0, 1), (2, 3, 4, 5), (6, 7, 8), (9,))]
    found = vectors.weat(*groups)
    effect, p = plain_weat(vectors, *groups)
    assert found.effect_size == pytest.approx(effect)
    assert found.p_value == pytest.approx(p)
    swapped = vectors.weat(groups[0], groups[1], groups[3], groups[2])
    assert swapped.effect_size == pytest.approx(-found.effect_size)


def test_drawn_splits_come_near_the_exact_p_and_repeat_with_the_seed(vectors: WordVectors) -> None:
    vectors = random_vectors(14, 3, 4)
    groups = [[f"w{row}" for row in rows] for rows in (range(5), range(5, 10), (10, 11), (12, 13))]
    exact = vectors.weat(*groups)
    assert (exact.splits, exact.exact) == (252, True)
    drawn = vectors.weat(*groups, permutations=200, seed=3)
    assert (drawn.splits, drawn.exact) == (200, False)
    assert drawn == vectors.weat(*groups, permutations=200, seed=3)
    assert drawn.p_value != vectors.weat(*groups, permutations=200, seed=4).p_value
    # Six standard deviations of a share of 200 draws.
    assert abs(drawn.p_value - exact.p_value) < 6 * math.sqrt(exact.p_value * (1 - exact.p_value) / 200)


def test_words_that_are_not_there_are_an_error_or_named(vectors: WordVectors) -> None:
    with pytest.raises(UserError, match="'bee' is not among"):
        vectors.weat(FLOWERS, [*INSECTS, "bee"], PLEASANT, UNPLEASANT)
    found = vectors.weat(FLOWERS, [*INSECTS, "bee"], PLEASANT, UNPLEASANT, skip_unknown=True)
    assert found.skipped == ("bee",)
    assert found.effect_size == vectors.weat(FLOWERS, INSECTS, PLEASANT, UNPLEASANT).effect_size
    assert found.as_dict()["skipped"] == ["bee"]


@pytest.mark.parametrize(
    ("groups", "what"),
    [
        ((["rose"], INSECTS, PLEASANT, UNPLEASANT), "the group x has 1 known words, expected at least 2"),
        ((FLOWERS, INSECTS, [], UNPLEASANT), "the group a has 0"),
        ((FLOWERS, [*INSECTS, "rose"], PLEASANT, UNPLEASANT), "'rose' is in both x and y"),
        ((FLOWERS, INSECTS, PLEASANT, PLEASANT), "nothing to compare"),
    ],
)
def test_groups_that_cannot_be_compared_are_refused(
    vectors: WordVectors, groups: tuple[list[str], list[str], list[str], list[str]], what: str
) -> None:
    with pytest.raises(UserError, match=what):
        vectors.weat(*groups)


def test_ripa_of_one_pair_is_the_product_with_its_difference() -> None:
    vectors = random_vectors(10, 4)
    found = vectors.ripa(["w2", "w3", "w0", "w1"], [("w0", "w1")])
    difference = vectors["w0"].astype(float) - vectors["w1"]
    relation = difference / numpy.linalg.norm(difference)
    assert found.relation == pytest.approx(relation)
    assert found.explained == pytest.approx(1)
    for word, score in found.scores:
        assert score == pytest.approx(float(vectors[word] @ relation))
    scores = dict(found.scores)
    assert scores["w0"] - scores["w1"] == pytest.approx(float(numpy.linalg.norm(difference)))
    assert [score for _, score in found.scores] == sorted(scores.values(), reverse=True)


def test_ripa_of_several_pairs_is_along_what_explains_most_of_them() -> None:
    vectors = random_vectors(20, 4)
    pairs = [(f"w{row}", f"w{row + 1}") for row in range(0, 12, 2)]
    found = vectors.ripa(["w15"], pairs)
    differences = numpy.stack([vectors[one].astype(float) - vectors[other] for one, other in pairs])
    values, directions = numpy.linalg.eigh(differences.T @ differences)
    assert abs(float(found.relation @ directions[:, -1])) == pytest.approx(1)
    assert found.explained == pytest.approx(values[-1] / values.sum())
    assert (differences @ found.relation).sum() >= 0
    turned = vectors.ripa(["w15"], [(other, one) for one, other in pairs])
    assert turned.scores[0].score == pytest.approx(-found.scores[0].score)


def test_a_relation_needs_pairs_that_differ() -> None:
    vectors = WordVectors(["a", "b"], [[1, 2], [1, 2]])
    with pytest.raises(UserError, match="got none"):
        vectors.ripa(["a"], [])
    with pytest.raises(UserError, match="equal vectors"):
        vectors.ripa(["a"], [("a", "b")])


def test_one_string_is_not_a_list_of_letters(vectors: WordVectors) -> None:
    with pytest.raises(UserError, match="expected a list of words for the group a, got one string"):
        vectors.weat(FLOWERS, INSECTS, "love", UNPLEASANT)
    for pairs in (("love", "hatred"), [("love", "hatred", "ugly")]):
        with pytest.raises(UserError, match="expected pairs of words, got"):
            vectors.ripa(["rose"], pairs)  # type: ignore[arg-type]
    assert [word for word, _ in vectors.ripa("rose", [("love", "hatred")]).scores] == ["rose"]

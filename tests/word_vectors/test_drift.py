import numpy
import pytest

from pellucid import UserError, WordVectors
from tests.word_vectors.example_vectors import random_vectors


def turned_and_noisy(
    vectors: WordVectors, noise: float, moved: list[str], seed: int = 5
) -> tuple[WordVectors, numpy.ndarray]:
    """Return the vectors in another space, a little noisy, some words somewhere else; and the turn."""
    draw = numpy.random.default_rng(seed)
    turn, _ = numpy.linalg.qr(draw.normal(size=(vectors.dim, vectors.dim)))
    rows = vectors.input_vectors + noise * draw.normal(size=vectors.input_vectors.shape)
    for word in moved:
        rows[vectors.row(word)] = draw.normal(size=vectors.dim)
    return WordVectors(vectors.words, rows @ turn), turn


def test_a_turned_space_is_turned_back_and_nothing_has_moved() -> None:
    before = random_vectors(100, 8)
    after, turn = turned_and_noisy(before, 0, [])
    found = before.drift(after)
    assert found.rotation == pytest.approx(turn, abs=1e-6)
    assert found.rotation @ found.rotation.T == pytest.approx(numpy.eye(8), abs=1e-12)
    assert found.change == pytest.approx(numpy.zeros(100), abs=1e-6)
    assert found.rotate(before).input_vectors == pytest.approx(after.input_vectors, abs=1e-5)


def test_words_that_moved_are_found_and_others_are_not() -> None:
    before = random_vectors(600, 20)
    moved = ["w50", "w300", "w599"]
    after, _ = turned_and_noisy(before, 0.2, moved)
    found = before.drift(after)
    assert {one.word for one in found.most_drifted(3)} == set(moved)
    assert found.of("w300").p_value == pytest.approx(3 / 600, abs=2 / 600)
    unmoved = numpy.array([found.of(word).p_value for word in before if word not in moved])
    assert abs((unmoved < 0.05).mean() - 0.05) < 0.02  # p of words that only have noise is spread evenly


def test_p_is_the_share_of_residuals_that_would_have_moved_the_word_as_far() -> None:
    before = random_vectors(40, 5)
    after, _ = turned_and_noisy(before, 0.5, [])
    found = before.drift(after, peers=10)
    x, y = (numpy.stack([vectors.unit_vector(word) for word in before]) for vectors in (before, after))
    x = x @ found.rotation
    for row in range(40):
        peers = range(row // 10 * 10, row // 10 * 10 + 10)
        changes = []
        for peer in peers:
            end = x[row] + (y[peer] - x[peer])
            changes.append(1 - float(x[row] @ end) / float(numpy.linalg.norm(end)))
        assert found.change[row] == pytest.approx(1 - float(x[row] @ y[row]))
        assert found.p_values[row] == pytest.approx(sum(c >= found.change[row] - 1e-9 for c in changes) / 10)


def test_only_shared_words_with_a_direction_count_and_peers_are_as_frequent() -> None:
    draw = numpy.random.default_rng(1)
    words = [f"w{row}" for row in range(30)]
    rows = draw.normal(size=(30, 3))
    rows[3] = 0
    before = WordVectors(words, rows, counts=numpy.arange(30, 0, -1))
    after = WordVectors(words[::-1][:28], draw.normal(size=(28, 3)), counts=numpy.arange(28, 0, -1))
    found = before.drift(after, peers=5)
    assert set(found.words) == set(words[2:]) - {"w3"}
    assert (found.peers, found.anchors) == (5, 27)
    with pytest.raises(UserError, match="'w0' is not among the 27 shared words"):
        found.of("w0")
    assert found.as_dict(2)["shared"] == 27 and len(found.as_dict(2)["words"]) == 2


def test_the_rotation_can_be_fitted_on_anchors() -> None:
    before = random_vectors(50, 4)
    after, turn = turned_and_noisy(before, 0, [f"w{row}" for row in range(25)])
    anchored = before.drift(after, anchors=[f"w{row}" for row in range(25, 50)])
    assert anchored.anchors == 25
    assert anchored.rotation == pytest.approx(turn, abs=1e-6)
    assert before.drift(after).rotation != pytest.approx(turn, abs=1e-2)
    with pytest.raises(UserError, match=r"2 anchors are not among the 50 shared words: 'x', 'y'"):
        before.drift(after, anchors=["w1", "x", "y"])


def test_other_vectors_of_the_space_can_be_turned_too() -> None:
    before = random_vectors(50, 4)
    after, _ = turned_and_noisy(before, 0, [])
    found = before.drift(after)
    pair = WordVectors(["a", "b"], before.input_vectors[:2], before.input_vectors[2:4], metadata={"x": 1})
    turned = found.rotate(pair)
    assert turned.input_vectors == pytest.approx(after.input_vectors[:2], abs=1e-5)
    assert turned.output_vectors == pytest.approx(after.input_vectors[2:4], abs=1e-5)
    assert turned.similarity("a", "b") == pytest.approx(pair.similarity("a", "b"), abs=1e-6)
    with pytest.raises(UserError, match="expected vectors of dimension 4, got 3"):
        found.rotate(random_vectors(3, 3))


def test_spaces_that_cannot_be_aligned_are_refused() -> None:
    with pytest.raises(UserError, match="got 4 and 3"):
        random_vectors(9, 4).drift(random_vectors(9, 3))
    with pytest.raises(UserError, match="too few anchors: 3 words for vectors of dimension 4"):
        random_vectors(3, 4).drift(random_vectors(9, 4))
    with pytest.raises(UserError, match="at least 2 peers"):
        random_vectors(9, 4).drift(random_vectors(9, 4), peers=1)

"""Full and hierarchical softmax: finite differences, plain twins, and Huffman's tree."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pellucid.errors import UserError
from pellucid.word_vectors.config import vectors_config
from pellucid.word_vectors.huffman import HuffmanTree, build_huffman_tree
from pellucid.word_vectors.softmax import full_softmax_step, hierarchical_softmax_step
from pellucid.word_vectors.training import VectorsTraining
from tests.word_vectors.test_training import encoded, sentences, trained

Floats = NDArray[numpy.float64]
Step = Callable[[Floats, Floats, float, Floats], float]
COUNTS = [40, 20, 20, 7, 3, 1, 1]


def steps() -> dict[str, tuple[Step, Callable[[Floats, Floats], float]]]:
    """Return for each softmax the kernel's step and the loss by its definition, for the word 3."""
    tree, probabilities = build_huffman_tree(COUNTS), numpy.zeros(len(COUNTS))

    def full_loss(h: Floats, outputs: Floats) -> float:
        scores = outputs @ h
        return float(numpy.log(numpy.exp(scores).sum()) - scores[3])

    def path_loss(h: Floats, outputs: Floats) -> float:
        path = range(tree.starts[3], tree.starts[4])
        scores = [(1 - 2 * int(tree.bits[at])) * float(outputs[tree.nodes[at]] @ h) for at in path]
        return sum(math.log1p(math.exp(-score)) for score in scores)

    return {
        "full": (
            lambda h, outputs, rate, change: full_softmax_step(h, outputs, 3, rate, change, probabilities),
            full_loss,
        ),
        "path": (
            lambda h, outputs, rate, change: hierarchical_softmax_step(h, outputs, tree, 3, rate, change),
            path_loss,
        ),
    }


@pytest.mark.parametrize("kind", ["full", "path"])
def test_a_step_descends_the_gradient_by_finite_differences(kind: str) -> None:
    step, loss = steps()[kind]
    draw = numpy.random.default_rng(1)
    h, outputs, change = draw.normal(size=4), draw.normal(size=(len(COUNTS), 4)), numpy.zeros(4)
    moved, rate = outputs.copy(), 1e-3
    assert step(h, moved, rate, change) == pytest.approx(loss(h, outputs))
    gradient = (outputs - moved) / rate
    for array, found in ((h, -change), (outputs, gradient)):
        for place in numpy.ndindex(array.shape):
            kept, around = array[place], []
            for by in (1e-6, -1e-6):
                array[place] = kept + by
                around.append(loss(h, outputs))
            array[place] = kept
            assert (around[0] - around[1]) / 2e-6 == pytest.approx(found[place], abs=1e-6)


def test_a_path_s_probabilities_add_up_to_one() -> None:
    tree = build_huffman_tree(COUNTS)
    draw = numpy.random.default_rng(2)
    h, outputs = draw.normal(size=4), draw.normal(size=(len(COUNTS), 4))
    losses = [hierarchical_softmax_step(h, outputs, tree, word, 0.0, numpy.zeros(4)) for word in range(len(COUNTS))]
    assert sum(math.exp(-loss) for loss in losses) == pytest.approx(1)


def test_huffman_s_tree_by_hand() -> None:
    """1 + 1 → 2, + 3 → 5, + 7 → 12, + the first 20 → 32; with the other 20 → 52, and 40 joins last."""
    tree = build_huffman_tree(COUNTS)
    assert [len(tree.code(word)) for word in range(7)] == [1, 3, 2, 4, 5, 6, 6]


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=40))
def test_codes_are_prefix_free_and_as_short_as_can_be(counts: list[int]) -> None:
    tree: HuffmanTree = build_huffman_tree(counts)
    codes = [tree.code(word) for word in range(len(counts))]
    assert sum(2.0 ** -len(code) for code in codes) == 1  # Kraft: a whole tree
    assert len(set(codes)) == len(codes)
    assert set(tree.nodes.tolist()) == set(range(len(counts) - 1))
    assert {int(tree.nodes[start]) for start in tree.starts[:-1]} == {len(counts) - 2}
    # The cost of Huffman's tree is the sum of all joined weights.
    heap, cost = sorted(counts), 0
    while len(heap) > 1:
        joined = heap[0] + heap[1]
        heap = sorted([*heap[2:], joined])
        cost += joined
    assert sum(count * len(code) for count, code in zip(counts, codes, strict=True)) == cost


@pytest.mark.parametrize("objective", ["hierarchical-softmax", "full-softmax"])
@pytest.mark.parametrize("model", ["skip-gram", "cbow"])
@pytest.mark.parametrize("settings", [{}, {"fast": True}])
def test_they_learn(tmp_path: Path, objective: str, model: str, settings: dict[str, Any]) -> None:
    text = encoded(tmp_path, sentences(1500, 60))
    vectors = trained(text, 2, objective=objective, model=model, sample=0.0, learning_rate=0.05, epochs=3, **settings)
    near = [vectors.similar(f"w{n}", 4) for n in range(20, 50)]
    right = [abs(int(word[1:]) - n) <= 6 for n, found in zip(range(20, 50), near, strict=True) for word, _ in found]
    assert sum(right) / len(right) > 0.8
    assert (vectors.output_vectors is None) == (objective == "hierarchical-softmax")


def test_a_loss_is_in_nats_a_prediction(tmp_path: Path) -> None:
    """Before anything is learnt all words are equally likely: ln 60 nats, whatever is predicted."""
    text = encoded(tmp_path, sentences(50, 60))
    settings = {"objective": "full-softmax", "dim": 4, "epochs": 1, "learning_rate": 1e-9, "end_learning_rate": 0.0}
    for model in ("skip-gram", "cbow"):
        training = VectorsTraining(text, vectors_config({**settings, "model": model}))
        assert next(iter(training)).loss == pytest.approx(math.log(len(text.words)), rel=1e-4)


def test_a_full_softmax_over_too_many_words_is_refused(tmp_path: Path) -> None:
    text = encoded(tmp_path, [[f"w{n}" for n in range(50_001)]])
    with pytest.raises(UserError, match=r"a full softmax over 50,001 words would take too long"):
        VectorsTraining(text, vectors_config({"objective": "full-softmax"}))

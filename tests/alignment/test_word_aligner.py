"""The aligner of both directions, as it is called from Python."""

from typing import get_args

import pytest

from pellucid.alignment import Symmetrisation, fit_aligner
from pellucid.alignment.symmetrisation import SYMMETRISATIONS
from pellucid.errors import UserError

PAIRS = [("El perro come", "the dog eats"), ("", "nothing"), ("el gato come", "the cat eats"), ("el perro", "the dog")]


def test_pairs_of_texts_are_aligned_in_order_and_a_blank_side_has_no_links() -> None:
    aligner = fit_aligner(PAIRS, iterations=10)
    straight = [[(n, n) for n in range(len(source.split()))] for source, _ in PAIRS]
    for symmetrisation in get_args(Symmetrisation):
        assert list(aligner.align(symmetrisation)) == straight
    best = next(word for word in aligner.translations() if word.source == "perro")
    assert best.target == "dog" and best.probability > 0.5 and best.reverse > 0.5


def test_every_symmetrisation_has_its_function() -> None:
    assert set(get_args(Symmetrisation)) == set(SYMMETRISATIONS)


def test_progress_is_reported_for_both_directions() -> None:
    iterations: list[int] = []
    fit_aligner(PAIRS, iterations=2, on_progress=lambda step: iterations.append(step.iteration))
    assert iterations == [1, 2, 1, 2]


@pytest.mark.parametrize("pairs", [[], [("uno", ""), ("", "one")], [("uno", "one " * 401)]])
def test_pairs_without_words_on_both_sides_are_rejected(pairs: list[tuple[str, str]]) -> None:
    with pytest.raises(UserError, match="nothing to align"):
        fit_aligner(pairs)

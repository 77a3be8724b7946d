"""E11: each dimension has a meaning of its own."""

import numpy

from pellucid.claims.claim import Effort, Setup, at_least, claim
from pellucid.claims.demo_text import classes, demo_vectors
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.randomness import generator

__all__ = ["CLAIM", "measure"]

_ROTATIONS = 20
_LABELS = {"noun": 0, "adjective": 1}  # −1 for words of neither class


def measure(setup: Setup, orthogonal: bool = True) -> Evidence:
    """Rotate the space at random and measure what changes: the scores, and how well one axis separates two classes.

    Args:
        orthogonal: whether the rotation is orthogonal; any other matrix changes the scores.
    """
    vectors = demo_vectors("zh", setup.size, setup.seed)
    assert vectors.output_vectors is not None
    w_in, w_out = vectors.input_vectors.astype(float), vectors.output_vectors.astype(float)
    word_class = classes()
    labels = numpy.array([_LABELS.get(word_class.get(word, ""), -1) for word in vectors.words])
    draw, d = generator(setup.seed, "E11"), w_in.shape[1]
    scores = w_in @ w_out.T
    known = labels >= 0
    records, best, change = [], [], 0.0
    for number in range(_ROTATIONS + 1):
        rotation = numpy.eye(d) if number == 0 else draw.standard_normal((d, d))
        if orthogonal and number:
            rotation = numpy.linalg.qr(rotation)[0]
        rotated = w_in @ rotation
        change = max(change, float(numpy.abs(rotated @ (w_out @ rotation).T - scores).max()))
        axes = numpy.sort([_accuracy(rotated[known, i], labels[known]) for i in range(d)])[::-1]
        space = "as trained" if number == 0 else "rotated"
        best.append(float(axes[0]))
        records += [
            {"space": space, "rotation": number, "axis": rank + 1, "accuracy": float(a)}
            for rank, a in enumerate(axes[:8])
        ]
    middle = w_in[known & (labels == 1)].mean(0) - w_in[known & (labels == 0)].mean(0)
    numbers = exact_values(
        change_of_scores_by_rotation=change / float(numpy.abs(scores).max()),
        best_axis_as_trained=best[0],
        best_axis_rotated_mean=float(numpy.mean(best[1:])),
        best_axis_rotated_deviation=float(numpy.std(best[1:])),
        best_direction=_accuracy(w_in[known] @ middle, labels[known]),
    )
    return Evidence(numbers, records, Figure("point", "axis", "accuracy", "space"))


def _accuracy(numbers: numpy.ndarray, labels: numpy.ndarray) -> float:
    """Compute the balanced accuracy of the best threshold on one number, in either direction."""
    order = labels[numpy.argsort(numbers, kind="stable")]
    ones, zeros = (order == 1).sum(), (order == 0).sum()
    right = numpy.cumsum(order == 0) / zeros + 1 - numpy.cumsum(order == 1) / ones
    return float(max(right.max(), 2 - right.min()) / 2)


CLAIM = claim(
    measure,
    at_least("change_of_scores_by_rotation", 1e-3, fails_at=1e-9),
    effort=Effort(Setup(size=1_500), Setup(size=8_000)),
)

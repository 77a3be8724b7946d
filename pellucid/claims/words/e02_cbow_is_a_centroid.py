"""E2: CBOW sees the mean of its context and no order."""

from collections.abc import Callable

import numpy

from pellucid.claims.claim import Setup, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.demo.micro_world import MicroStep, initial_matrices, micro_step
from pellucid.randomness import generator

__all__ = ["CLAIM", "measure"]

Step = Callable[[numpy.ndarray, numpy.ndarray, list[int], int], MicroStep]
_COMPARED = ("h", "loss", "gradient_w_in", "gradient_w_out")


def measure(setup: Setup, step: Step = micro_step, contexts: int = 40) -> Evidence:
    """Shuffle contexts of six words and compare hidden vector, loss and gradients; and the vector with the centroid."""
    draw, (w_in, w_out) = generator(setup.seed, "E2"), initial_matrices(setup.seed)
    largest, off_centre = dict.fromkeys(_COMPARED, 0.0), 0.0
    for _ in range(contexts):
        context, target = draw.integers(0, 3, 6).tolist(), int(draw.integers(3))
        there = step(w_in, w_out, context, target)
        shuffled = step(w_in, w_out, draw.permutation(context).tolist(), target)
        off_centre = max(off_centre, float(numpy.abs(there.h - w_in[context].mean(axis=0)).max()))
        for name in _COMPARED:
            difference = numpy.abs(numpy.asarray(getattr(there, name)) - numpy.asarray(getattr(shuffled, name))).max()
            largest[name] = max(largest[name], float(difference))
    records = [{"quantity": name, "largest_difference": value} for name, value in largest.items()]
    numbers = exact_values(difference_after_shuffling=max(largest.values()), distance_from_centroid=off_centre)
    return Evidence(numbers, records, Figure("bar", "quantity", "largest_difference"))


CLAIM = claim(measure, at_most("difference_after_shuffling", 1e-10), at_most("distance_from_centroid", 1e-10))

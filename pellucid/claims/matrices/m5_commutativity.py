"""M5: order matters."""

from collections.abc import Callable

import numpy

from pellucid.claims.claim import Setup, at_least, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import small_decoder

__all__ = ["CLAIM", "measure"]


def _rotation(angle: float) -> numpy.ndarray:
    return numpy.array([[numpy.cos(angle), -numpy.sin(angle)], [numpy.sin(angle), numpy.cos(angle)]])


def measure(setup: Setup, multiply: Callable[[numpy.ndarray, numpy.ndarray], numpy.ndarray] = numpy.matmul) -> Evidence:
    """Multiply matrices in both orders: those of a model's attention, and known exceptions."""
    general = []
    for block in small_decoder(setup.seed, n_layers=4).double().blocks():
        a, b = (part.weight.detach().numpy() for part in (block.self_attention.query, block.self_attention.value))
        general.append(("matrices of a model", a, b))
    first = general[0][1]
    special = [
        ("two rotations of the plane", _rotation(0.4), _rotation(1.1)),
        ("two diagonal matrices", numpy.diag([1.0, 2.0, 3.0]), numpy.diag([5.0, 0.5, 2.0])),
        ("a matrix and its square", first, first @ first),
        ("a matrix and the identity", first, numpy.eye(len(first))),
    ]
    records = [
        {"pair": name, "difference": _difference(multiply(a, b), multiply(b, a))} for name, a, b in general + special
    ]
    sizes = [record["difference"] for record in records]
    return Evidence(
        exact_values(
            least_difference_of_a_models_matrices=min(sizes[: len(general)]),
            least_difference_of_exceptions=min(sizes[len(general) :]),
            largest_difference_of_exceptions=max(sizes[len(general) :]),
        ),
        records,
        Figure("bar", "pair", "difference"),
    )


def _difference(one: numpy.ndarray, other: numpy.ndarray) -> float:
    return float(numpy.linalg.norm(one - other) / (numpy.linalg.norm(one) + numpy.linalg.norm(other)))


CLAIM = claim(
    measure,
    at_least("least_difference_of_a_models_matrices", 0.01),
    outside=(at_least("least_difference_of_exceptions", 0.01),),
)

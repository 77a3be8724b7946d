"""Position schemes of a model: their numbers, and what shifting by k positions does to sinusoidal encodings.

All with the model's own dimensions, in float64 unless said otherwise.
"""

from typing import NamedTuple

import numpy
import torch
from torch import nn

from pellucid.errors import UserError
from pellucid.inspection.labelled_array import Array, Axis, LabelledArray, numbered_axis
from pellucid.inspection.structure import attentions, find_stack
from pellucid.layers.positions import PositionTable, sinusoids

__all__ = [
    "ShiftError",
    "attention_positions",
    "encoding_distances",
    "encoding_products",
    "encodings",
    "measure_shift",
    "position_table",
    "products_by_offset",
    "shift_matrix",
    "sinusoid_frequencies",
]


class ShiftError(NamedTuple):
    """How exactly M_k shifts encodings by k positions.

    Attributes:
        error: largest |M_k PE(pos) − PE(pos + k)| in float64.
        float32_error: the same for the float32 encodings that the model adds.
    """

    k: int
    error: float
    float32_error: float
    determinant: float


def position_table(model: nn.Module, count: int, stack: str = "decoder") -> tuple[LabelledArray, str]:
    """Return the numbers of a model's position scheme, with a caption: encodings, rotation angles, slopes.

    Raises:
        UserError: if the model has no positions.
    """
    table = find_stack(model, stack).position_encoding.table(count)
    table = table or next((found for site in attentions(model) if (found := site.module.positions.table(count))), None)
    if table is None:
        raise UserError("the model has no positions", where="positions", hint="Look at a model with positions.")
    return _labelled(table), table.caption


def encodings(model: nn.Module, count: int, stack: str = "decoder") -> LabelledArray:
    """Return the encodings that are added to the embeddings at the first positions, [position d_model].

    Raises:
        UserError: if the model adds no encodings, or has learned fewer.
    """
    table = find_stack(model, stack).position_encoding.table(count)
    if table is None:
        raise UserError(
            "the model adds no position encodings to its embeddings",
            where=stack,
            hint="Use attention_positions: it shows rotation angles and slopes.",
        )
    return _labelled(table)


def attention_positions(model: nn.Module, count: int) -> LabelledArray:
    """Return the numbers of the scheme that acts in attention: rotation angles [position pair] or slopes [heads].

    Raises:
        UserError: if positions do not act in attention.
    """
    for site in attentions(model):
        if (table := site.module.positions.table(count)) is not None:
            return _labelled(table)
    raise UserError("no position scheme acts in attention", where="positions", hint="Use encodings.")


def sinusoid_frequencies(model: nn.Module, stack: str = "decoder") -> LabelledArray:
    """Return the angle by which each pair of a sinusoidal encoding advances per position, [pair]; radians.

    Raises:
        UserError: if the encodings are not sinusoidal.

    Source:
        Vaswani et al. 2017, §3.5.
    """
    encoding = find_stack(model, stack).position_encoding
    if encoding.kind != "sinusoidal":
        raise UserError(
            f"the model's position encodings are not sinusoidal: {encoding.kind}",
            where=stack,
            hint="Look at a model with model.positions = sinusoidal.",
        )
    width = encodings(model, 1, stack).shape[1]
    values = 10_000.0 ** (-numpy.arange(0, width, 2, dtype=numpy.float64) / width)
    return LabelledArray("frequencies", values, (numbered_axis("pair", len(values)),), "radians", "angle per position")


def shift_matrix(model: nn.Module, k: int, stack: str = "decoder") -> LabelledArray:
    """Build M_k, which maps every sinusoidal encoding to the one k positions later, [d_model d_model].

    A block [[cos ωk, sin ωk], [−sin ωk, cos ωk]] for each pair (sin, cos) of frequency ω; its determinant is 1.
    """
    frequencies = sinusoid_frequencies(model, stack).values
    width = 2 * len(frequencies)
    matrix = numpy.zeros((width, width))
    even, odd = numpy.arange(0, width, 2), numpy.arange(1, width, 2)
    angles = frequencies * k
    matrix[even, even] = matrix[odd, odd] = numpy.cos(angles)
    matrix[even, odd], matrix[odd, even] = numpy.sin(angles), -numpy.sin(angles)
    axis = numbered_axis("d_model", width)
    return LabelledArray("shift_matrix", matrix, (axis, axis), "–", f"M_{k}: PE(pos + {k}) = M_{k} PE(pos)")


def measure_shift(model: nn.Module, k: int, count: int = 256, stack: str = "decoder") -> ShiftError:
    """Measure how exactly M_k shifts the encodings of the first `count` positions."""
    matrix = shift_matrix(model, k, stack).values
    exact = sinusoids(torch.arange(count + abs(k)), len(matrix)).numpy()
    used = encodings(model, count + abs(k), stack).values
    here, there = (slice(0, count), slice(k, count + k)) if k >= 0 else (slice(-k, count - k), slice(0, count))
    return ShiftError(
        k,
        float(numpy.abs(exact[here] @ matrix.T - exact[there]).max()),
        float(numpy.abs(used[here] @ matrix.T - used[there]).max()),
        float(numpy.linalg.det(matrix)),
    )


def encoding_products(model: nn.Module, count: int, stack: str = "decoder") -> LabelledArray:
    """Compute the dot products of all pairs of encodings, [position position]."""
    table = encodings(model, count, stack).values
    return _pairs("encoding_products", table @ table.T, "PE(i) · PE(j)")


def encoding_distances(model: nn.Module, count: int, stack: str = "decoder") -> LabelledArray:
    """Compute the Euclidean distances of all pairs of encodings, [position position]."""
    table = encodings(model, count, stack).values
    squares = (table**2).sum(1)
    squared_distances = squares[:, None] + squares[None] - 2 * table @ table.T
    return _pairs("encoding_distances", numpy.sqrt(numpy.maximum(squared_distances, 0)), "|PE(i) − PE(j)|")


def products_by_offset(model: nn.Module, count: int, stack: str = "decoder") -> LabelledArray:
    """Compute mean, least and greatest dot product of encodings by distance, [figure offset].

    For sinusoids the three are equal, Σ cos(ω_i k): the product depends only on the distance, in either direction. For
    learned encodings they differ.
    """
    pairs = encoding_products(model, count, stack).values
    diagonals = [numpy.diagonal(pairs, offset) for offset in range(count)]
    values = numpy.array([[d.mean() for d in diagonals], [d.min() for d in diagonals], [d.max() for d in diagonals]])
    axes = (Axis("figure", ("mean", "least", "greatest")), numbered_axis("offset", count))
    return LabelledArray("products_by_offset", values, axes, "–", "PE(p) · PE(p + offset)")


def _labelled(table: PositionTable) -> LabelledArray:
    values = table.values.numpy()
    axes = tuple(numbered_axis(name, size) for name, size in zip(table.axes, values.shape, strict=True))
    return LabelledArray(table.name, values, axes, table.unit, table.meaning)


def _pairs(name: str, values: Array, meaning: str) -> LabelledArray:
    axis = numbered_axis("position", len(values))
    return LabelledArray(name, values, (axis, axis), "–", meaning)

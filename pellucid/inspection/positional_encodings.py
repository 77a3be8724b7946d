"""How a model is told where a token stands: its codes, their frequencies, what moving by k does to them.

All with the model's own width and base, in float64 unless said otherwise.
"""

from typing import NamedTuple

import numpy
import torch
from torch import Tensor, nn

from pellucid.errors import UserError
from pellucid.inspection.labelled_array import Array, Axis, LabelledArray, numbered_axis
from pellucid.inspection.structure import attentions, find_stack
from pellucid.layers.positions import AlibiBias, LearnedEncoding, Rotary, SinusoidalEncoding, sinusoids

__all__ = [
    "ShiftError",
    "alibi_slopes",
    "encoding_distances",
    "encoding_products",
    "encodings",
    "measure_shift",
    "products_by_offset",
    "rotary_angles",
    "shift_matrix",
    "sinusoid_frequencies",
]


def encodings(model: nn.Module, count: int, stack_name: str = "decoder") -> LabelledArray:
    """Return the codes that are added to embeddings at the first positions, [position d_model].

    Args:
        model: any.
        count: positions.
        stack_name: encoder or decoder; learned codes are their own.

    Raises:
        UserError: if the model adds no codes, or has learned fewer.
    """
    module = find_stack(model, stack_name).position_encoding
    if module.kind == "none":
        raise UserError(
            "the model adds no position codes to its embeddings",
            where=stack_name,
            hint="Use rotary_angles for rotary positions, and alibi_slopes for ALiBi.",
        )
    device = next(model.parameters()).device
    values = module(torch.arange(count, device=device), count).detach().double().cpu().numpy()
    kind = "sinusoidal" if isinstance(module, SinusoidalEncoding) else "learned"
    axes = (numbered_axis("position", count), numbered_axis("d_model", values.shape[1]))
    return LabelledArray(f"{stack_name}.codes", values, axes, "–", f"{kind} position codes")


def sinusoid_frequencies(model: nn.Module, stack_name: str = "decoder") -> LabelledArray:
    """Return the angle that each pair of a sinusoidal code turns by a position, [pair]; radians.

    Source:
        Vaswani et al. 2017, §3.5.
    """
    width = _sinusoidal(model, stack_name).d_model
    values = 10_000.0 ** (-numpy.arange(0, width, 2, dtype=numpy.float64) / width)
    return LabelledArray("frequencies", values, (numbered_axis("pair", len(values)),), "radians", "angle a position")


def shift_matrix(model: nn.Module, k: int, stack_name: str = "decoder") -> LabelledArray:
    """Return M_k, which takes every sinusoidal code to the one k positions further, [d_model d_model].

    A block [[cos ωk, sin ωk], [−sin ωk, cos ωk]] for each pair (sin, cos) of frequency ω; its determinant is 1.
    """
    frequencies = sinusoid_frequencies(model, stack_name).values
    width = 2 * len(frequencies)
    matrix = numpy.zeros((width, width))
    even, odd = numpy.arange(0, width, 2), numpy.arange(1, width, 2)
    angles = frequencies * k
    matrix[even, even] = matrix[odd, odd] = numpy.cos(angles)
    matrix[even, odd], matrix[odd, even] = numpy.sin(angles), -numpy.sin(angles)
    axes = (numbered_axis("d_model", width), Axis("d_model", numbered_axis("d_model", width).labels))
    return LabelledArray("rotation", matrix, axes, "–", f"M_{k}: PE(pos + {k}) = M_{k} PE(pos)")


class ShiftError(NamedTuple):
    """How well M_k moves codes by k.

    Attributes:
        k: positions.
        error: largest |M_k PE(pos) − PE(pos + k)| in float64.
        float32_error: the same where the codes are the float32 numbers that the model adds.
        determinant: of M_k.
    """

    k: int
    error: float
    float32_error: float
    determinant: float


def measure_shift(model: nn.Module, k: int, count: int = 256, stack_name: str = "decoder") -> ShiftError:
    """Measure how well M_k moves the codes of the first `count` positions."""
    matrix = shift_matrix(model, k, stack_name).values
    table = sinusoids(torch.arange(count + abs(k)), len(matrix)).numpy()
    used = encodings(model, count + abs(k), stack_name).values
    here, there = (slice(0, count), slice(k, count + k)) if k >= 0 else (slice(-k, count - k), slice(0, count))
    return ShiftError(
        k,
        float(numpy.abs(table[here] @ matrix.T - table[there]).max()),
        float(numpy.abs(used[here] @ matrix.T - used[there]).max()),
        float(numpy.linalg.det(matrix)),
    )


def encoding_products(model: nn.Module, count: int, stack_name: str = "decoder") -> LabelledArray:
    """Return the dot products of all pairs of codes, [position position]."""
    table = encodings(model, count, stack_name).values
    return _pairs("code_products", table @ table.T, "PE(i) · PE(j)")


def encoding_distances(model: nn.Module, count: int, stack_name: str = "decoder") -> LabelledArray:
    """Return the Euclidean distances of all pairs of codes, [position position]."""
    table = encodings(model, count, stack_name).values
    squares = (table**2).sum(1)
    inner = squares[:, None] + squares[None] - 2 * table @ table.T
    return _pairs("code_distances", numpy.sqrt(numpy.maximum(inner, 0)), "|PE(i) − PE(j)|")


def products_by_offset(model: nn.Module, count: int, stack_name: str = "decoder") -> LabelledArray:
    """Return mean, least and greatest dot product of codes so far apart, [figure offset].

    For sinusoids the three are one, Σ cos(ω_i k): the product depends on the distance alone, and is the same to both
    sides. For learned codes they differ.
    """
    pairs = encoding_products(model, count, stack_name).values
    diagonals = [numpy.diagonal(pairs, offset) for offset in range(count)]
    values = numpy.array([[d.mean() for d in diagonals], [d.min() for d in diagonals], [d.max() for d in diagonals]])
    axes = (Axis("figure", ("mean", "least", "greatest")), numbered_axis("offset", count))
    return LabelledArray("products_by_offset", values, axes, "–", "PE(p) · PE(p + offset)")


def rotary_angles(model: nn.Module, count: int) -> LabelledArray:
    """Return the angles by which rotary positions turn each pair of coordinates, [position pair]; radians.

    Pair i is coordinates i and i + d_head/2 of every head.

    Raises:
        UserError: if the model has no rotary positions.
    """
    for one in attentions(model):
        if isinstance(one.module.positions, Rotary):
            turns: Tensor = one.module.positions.frequencies.double().cpu()
            values = (torch.arange(count, dtype=torch.float64)[:, None] * turns).numpy()
            axes = (numbered_axis("position", count), numbered_axis("pair", len(turns)))
            return LabelledArray("rotary_angles", values, axes, "radians", "angle that a pair is turned by")
    raise UserError(
        "the model has no rotary positions",
        where="positions",
        hint="Choose a model with rotary positions, or look at its scores by offset.",
    )


def alibi_slopes(model: nn.Module) -> LabelledArray:
    """Get the slope of each head, subtracted from a score per position of distance, [heads]; nats.

    Raises:
        UserError: if the model has no linear biases.
    """
    for one in attentions(model):
        if isinstance(one.module.positions, AlibiBias):
            values = one.module.positions.slopes.double().cpu().numpy()
            return LabelledArray(
                "alibi_slopes", values, (numbered_axis("heads", len(values)),), "nats", "slope of a head"
            )
    raise UserError(
        "the model has no linear biases (ALiBi)",
        where="positions",
        hint="Choose a model that was trained with model.positions alibi.",
    )


def _sinusoidal(model: nn.Module, stack_name: str) -> SinusoidalEncoding:
    module = find_stack(model, stack_name).position_encoding
    if isinstance(module, SinusoidalEncoding):
        return module
    kind = "its codes are learned" if isinstance(module, LearnedEncoding) else "it adds no codes"
    raise UserError(
        f"frequencies and M_k are of sinusoidal codes, and {kind}",
        where=stack_name,
        hint="Choose a model that was trained with model.positions sinusoidal.",
    )


def _pairs(name: str, values: Array, meaning: str) -> LabelledArray:
    places = numbered_axis("position", len(values))
    return LabelledArray(name, values, (places, places), "–", meaning)

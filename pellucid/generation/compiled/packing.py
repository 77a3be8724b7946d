"""Matrices packed so that a product reads them once, from the first byte to the last.

Four rows stand side by side: sixteen numbers of the first, of the second, the third, the fourth, then the next sixteen
of each. So the product with a vector reads memory in order, and four sums are under way at once. At 8 bits a line of
the cache holds such a group exactly.
"""

from typing import Literal, NamedTuple, TypeAlias

import numpy
import torch
from numpy.typing import NDArray

from pellucid.kernels.simd import LANES, aligned_zeros

__all__ = ["BFLOAT16", "BLOCK", "FLOAT32", "INT8", "KINDS", "ROWS", "PackedMatrix", "Precision", "pack", "round_up"]

Precision: TypeAlias = Literal["float32", "bfloat16", "int8"]

ROWS = 4  # side by side
BLOCK = 4  # chunks of sixteen columns that share a scale at 8 bits
FLOAT32, BFLOAT16, INT8 = 0, 1, 2  # constants in the kernel's code
KINDS: dict[Precision, int] = {"float32": FLOAT32, "bfloat16": BFLOAT16, "int8": INT8}

_STORED = {"float32": numpy.float32, "bfloat16": numpy.int16, "int8": numpy.int8}
_LARGEST = 127  # −128 is not used: the scale is the same on both sides of zero


class PackedMatrix(NamedTuple):
    """A matrix in groups of four rows.

    Attributes:
        kind: FLOAT32, BFLOAT16 (its bits in int16) or INT8.
        weights: [groups chunks 4 16], beginning on a multiple of 64 bytes.
        scales: at 8 bits, what the numbers of a block of a row are multiplied by, [groups blocks 4]; else empty.
    """

    kind: int
    weights: NDArray[numpy.generic]
    scales: NDArray[numpy.float32]

    @property
    def groups(self) -> int:
        """Rows divided by four, rounded up."""
        return len(self.weights)

    @property
    def chunks(self) -> int:
        """Columns divided by sixteen, rounded up."""
        return int(self.weights.shape[1])


def pack(weight: torch.Tensor, precision: Precision) -> PackedMatrix:
    """Pack a matrix [rows columns], padded with zeros.

    At 8 bits each block of 64 columns of a row has a scale, its largest number divided by 127, and its numbers are
    rounded to the nearest multiple of it; the arithmetic stays in float32.
    """
    rows, columns = weight.shape
    groups, chunks = round_up(rows, ROWS) // ROWS, round_up(columns, LANES) // LANES
    scales = numpy.empty((groups, 0, ROWS), numpy.float32)
    if precision == "int8":
        numbers, scale = _eight_bits(weight)
        scales = numpy.ones((groups * ROWS, scale.shape[1]), numpy.float32)
        scales[:rows] = scale.numpy()
        scales = scales.reshape(groups, ROWS, -1).transpose(0, 2, 1)
    else:
        numbers = weight.bfloat16().view(torch.int16) if precision == "bfloat16" else weight
    packed = aligned_zeros(groups, chunks * ROWS * LANES, dtype=_STORED[precision])
    wide = numpy.zeros((groups * ROWS, chunks * LANES), packed.dtype)
    wide[:rows, :columns] = numbers.numpy()
    shaped = packed.reshape(groups, chunks, ROWS, LANES)
    shaped[:] = wide.reshape(groups, ROWS, chunks, LANES).transpose(0, 2, 1, 3)
    return PackedMatrix(KINDS[precision], shaped, scales)


def _eight_bits(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Quantise a matrix: int8 [rows columns], and the scales of its blocks, [rows blocks]."""
    rows, columns = weight.shape
    width = BLOCK * LANES
    blocks = torch.nn.functional.pad(weight, (0, round_up(columns, width) - columns)).view(rows, -1, width)
    maximum = blocks.abs().amax(dim=2, keepdim=True)
    scales = torch.where(maximum > 0, maximum / _LARGEST, 1.0)
    numbers = (blocks / scales).round().to(torch.int8)
    return numbers.view(rows, -1)[:, :columns], scales[:, :, 0]


def round_up(size: int, multiple: int) -> int:
    """Round up to a multiple."""
    return -(-size // multiple) * multiple

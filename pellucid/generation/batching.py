"""Rows of ids side by side: padding them, and choosing which go together."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["batch_by_length", "pad_rows", "unique_rows"]


def pad_rows(
    rows: Sequence[Sequence[int] | NDArray[numpy.integer[Any]]], filler: int, device: torch.device | None = None
) -> Int[Tensor, "batch seq"]:
    """Stack rows of ids, filling the short ones up at their end with `filler`."""
    stacked = numpy.full((len(rows), max(map(len, rows))), filler, numpy.int64)
    for place, row in zip(stacked, rows, strict=True):
        place[: len(row)] = row
    return torch.from_numpy(stacked).to(device)


def unique_rows(rows: Sequence[Sequence[int]]) -> tuple[list[tuple[int, ...]], list[int]]:
    """Keep one of equal rows; return those that are left, and which of them each row is."""
    numbers: dict[tuple[int, ...], int] = {}
    which = [numbers.setdefault(tuple(row), len(numbers)) for row in rows]
    return list(numbers), which


def batch_by_length(lengths: Sequence[int], fits: Callable[[int, int], bool]) -> Iterator[list[int]]:
    """Yield the indices of rows that go into a batch together, longest rows first.

    Args:
        lengths: of the rows, tokens.
        fits: given a number of rows and the length of the longest, tells whether they may share a batch. A row that
            does not fit even alone gets a batch to itself.
    """
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda row: -lengths[row]):
        if batch and not fits(len(batch) + 1, lengths[batch[0]]):
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch

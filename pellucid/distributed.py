"""Processes that train one model together: every rank computes its share of a batch, and the gradients are summed.

The only module that uses `torch.distributed`. A rank is one process; rank 0 leads: it prepares the text, validates and
writes files, and announces every step to the others.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor

if TYPE_CHECKING:
    from torch import nn

__all__ = [
    "ALONE",
    "Group",
    "LostRankError",
    "join_launched",
    "join_local",
    "launched_device",
    "launched_rank",
    "launched_size",
]

_PATIENCE = timedelta(days=7)
"""How long a rank waits for another that still runs, for example while rank 0 validates or prepares a large text."""

_LOOPBACK = {"linux": "lo", "darwin": "lo0"}  # otherwise gloo looks up the host's name, which not every network knows


class LostRankError(Exception):
    """Another process of the group has ended, so that no sum over the group can be computed any more."""


@dataclass
class Group:
    """Processes that train together; in a group of one, every method is free and returns what it is given.

    Attributes:
        rank: number of this process, from 0.
        size: number of processes.
        device: of the gradients.
    """

    rank: int = 0
    size: int = 1
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    _gradients: Tensor | None = None

    def share(self, items: NDArray[numpy.int64]) -> NDArray[numpy.int64]:
        """Take this rank's share of a batch: every item belongs to exactly one rank."""
        return items[self.rank :: self.size]

    def sum(self, *values: float) -> tuple[float, ...]:
        """Add up numbers over all ranks, in float64."""
        if self.size == 1:
            return values
        total = torch.tensor(values, dtype=torch.float64, device=self.device)
        _all_reduce(total)
        return tuple(total.tolist())

    def announce(self, values: Sequence[float]) -> list[float]:
        """Send numbers from rank 0 to all, in float64; the others pass as many numbers, of any value."""
        if self.size == 1:
            return list(values)
        numbers = torch.tensor(values, dtype=torch.float64, device=self.device)
        _broadcast(numbers)
        return numbers.tolist()

    def sum_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Replace every gradient by its sum over all ranks, with the same bits on each; no gradient counts as zero."""
        if self.size == 1:
            return
        weights = [weight for weight in parameters if weight.requires_grad]
        if self._gradients is None:
            self._gradients = torch.empty(sum(weight.numel() for weight in weights), device=self.device)
        flat, parts, start = self._gradients, [], 0
        for weight in weights:
            parts.append(flat[start : start + weight.numel()].view_as(weight))
            start += weight.numel()
        given = [weight.grad if weight.grad is not None else torch.zeros_like(weight) for weight in weights]
        torch._foreach_copy_(parts, given)
        _all_reduce(flat)
        for weight, part in zip(weights, parts, strict=True):
            weight.grad = part

    def share_weights(self, model: nn.Module) -> None:
        """Give every rank the weights of rank 0."""
        if self.size > 1:
            with torch.no_grad():
                for weight in model.parameters():
                    _broadcast(weight)

    def leave(self) -> None:
        """Leave the group; ranks that still wait for this one are told that it has ended."""
        if self.size > 1 and torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()


ALONE = Group()
"""A group of one."""


def launched_size() -> int:
    """How many processes `torchrun` or a similar launcher started; 1 without a launcher."""
    return int(os.environ.get("WORLD_SIZE", "1")) if "RANK" in os.environ else 1


def launched_rank() -> int:
    """Rank that the launcher gave this process; 0 without a launcher."""
    return int(os.environ["RANK"]) if launched_size() > 1 else 0


def launched_device(device: torch.device) -> torch.device:
    """Give each process of a launcher on a machine a GPU of its own, if `device` is one."""
    return (
        torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        if device.type == "cuda" and "LOCAL_RANK" in os.environ
        else device
    )


def join_launched(device: torch.device) -> Group:
    """Join the group of a launcher such as `torchrun`, which says in the environment who belongs to it.

    Args:
        device: where this rank trains.
    """
    torch.distributed.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=_PATIENCE)
    return Group(torch.distributed.get_rank(), torch.distributed.get_world_size(), device)


def join_local(rank: int, size: int, meeting: Path) -> Group:
    """Join a group of processes on this machine.

    Args:
        meeting: path of a file, the same for all and not there yet, through which they find each other.

    Raises:
        LostRankError: if not all have come within three minutes.
    """
    if sys.platform in _LOOPBACK:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", _LOOPBACK[sys.platform])
    try:
        store = torch.distributed.FileStore(str(meeting), size)  # type: ignore[attr-defined]
        store.set_timeout(timedelta(minutes=3))
        torch.distributed.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=_PATIENCE)
    except RuntimeError as error:
        raise LostRankError(str(error)) from error
    return Group(rank, size)


def _all_reduce(tensor: Tensor) -> None:
    try:
        torch.distributed.all_reduce(tensor)
    except RuntimeError as error:  # the connection to a rank that has ended
        raise LostRankError(str(error)) from error


def _broadcast(tensor: Tensor) -> None:
    try:
        torch.distributed.broadcast(tensor, 0)
    except RuntimeError as error:
        raise LostRankError(str(error)) from error

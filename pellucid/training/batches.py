"""Batches of pairs of similar length, in an order that is a pure function of (seed, epoch)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor

from pellucid.generation.batching import pad_rows
from pellucid.randomness import generator

__all__ = ["PairBatch", "pair_batch", "plan_epoch", "split_batch"]

Ids = NDArray[numpy.int32]


class PairBatch(NamedTuple):
    """Sentence pairs as padded ids, on the device.

    Attributes:
        source: [batch, source], ending in the end token.
        target_in: [batch, target], beginning with the start token.
        target_out: [batch, target], ending in the end token: `target_in` shifted by one.
        source_lengths, target_lengths: [batch], the end token included.
        pairs: indices of the pairs in the dataset, [batch].
    """

    source: Tensor
    target_in: Tensor
    target_out: Tensor
    source_lengths: NDArray[numpy.int64]
    target_lengths: NDArray[numpy.int64]
    pairs: NDArray[numpy.int64]

    @property
    def target_tokens(self) -> int:
        """Target tokens without padding, the end tokens included."""
        return int(self.target_lengths.sum())

    @property
    def padded_size(self) -> int:
        """Positions of both sides, padding included."""
        return self.source.numel() + self.target_out.numel()

    @property
    def tokens(self) -> int:
        """Tokens of both sides without padding."""
        return int(self.source_lengths.sum() + self.target_lengths.sum())


def plan_epoch(
    source_lengths: NDArray[numpy.int64], target_lengths: NDArray[numpy.int64], batch_tokens: int, seed: int, epoch: int
) -> list[NDArray[numpy.int64]]:
    """Plan the batches of an epoch as arrays of pair indices: similar lengths together, batches in random order.

    Args:
        source_lengths: tokens of each pair's source, end token included.
        target_lengths: tokens of each pair's target, end token included.
        batch_tokens: limit on the number of pairs times the longest sentence among them; a pair longer than that is a
            batch of its own.
    """
    random = generator(seed, "order", epoch)
    shuffled = random.permutation(len(source_lengths))
    order = shuffled[numpy.lexsort((source_lengths[shuffled], target_lengths[shuffled]))]
    longest = numpy.maximum(source_lengths, target_lengths)[order].tolist()
    starts, widest = [0], 0
    for position, length in enumerate(longest):
        widest = max(widest, length)
        if widest * (position - starts[-1] + 1) > batch_tokens and position > starts[-1]:
            starts.append(position)
            widest = length
    batches = numpy.split(order, starts[1:]) if len(order) else []
    return [batches[i] for i in random.permutation(len(batches))]


def split_batch(
    pairs: NDArray[numpy.int64], longest: NDArray[numpy.int64], micro_batch_tokens: int
) -> list[NDArray[numpy.int64]]:
    """Split a step's pairs into the fewest equal parts of at most `micro_batch_tokens` each."""
    rows = max(1, micro_batch_tokens // int(longest[pairs].max()))
    parts = -(-len(pairs) // rows)
    return [part for part in numpy.array_split(pairs, parts) if len(part)]


def pair_batch(
    source: Sequence[Ids],
    target: Sequence[Ids],
    pairs: NDArray[numpy.int64],
    start_id: int,
    pad_id: int,
    device: torch.device,
) -> PairBatch:
    """Pad pairs into a batch.

    Args:
        source: one array of ids per pair, ending in the end token.
        target: likewise.
        pairs: their indices in the dataset.
    """
    target_out = pad_rows(target, pad_id)
    target_in = torch.empty_like(target_out)
    target_in[:, 0] = start_id
    target_in[:, 1:] = target_out[:, :-1]
    ends = numpy.array([len(ids) for ids in target])
    # The input is padding wherever the output is: nothing is predicted from the end token.
    target_in[torch.arange(target_in.shape[1]) >= torch.from_numpy(ends)[:, None]] = pad_id
    return PairBatch(
        pad_rows(source, pad_id, device),
        target_in.to(device),
        target_out.to(device),
        numpy.array([len(ids) for ids in source]),
        ends,
        pairs,
    )

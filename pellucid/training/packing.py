"""Pack documents of any length into windows of equal length, with little padding; documents that fit stay whole."""

from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from pellucid.randomness import generator

__all__ = ["Chunks", "pack", "split_into_chunks"]

Integers = NDArray[numpy.int64]


class Chunks(NamedTuple):
    """Spans of the ids that are read in one window.

    Attributes:
        starts: first index of each.
        lengths: input tokens; each predicts the next.
    """

    starts: Integers
    lengths: Integers


def split_into_chunks(starts: Integers, lengths: Integers, context: int, seed: int, epoch: int) -> Chunks:
    """Split documents that exceed the context, at other points in each epoch.

    The last token of a document is predicted, but never an input.

    Args:
        starts: first index of each document in the ids.
        lengths: its tokens, start and end included.
        context: length of a window, tokens.
    """
    read = lengths - 1
    fits = read <= context
    cut_starts, cut_lengths = [starts[fits]], [read[fits]]
    random = generator(seed, "cuts", epoch)
    for start, count in zip(starts[~fits].tolist(), read[~fits].tolist(), strict=True):
        borders = numpy.arange(int(random.integers(1, context + 1)), count, context)
        edges = numpy.concatenate(([0], borders, [count]))
        cut_starts.append(start + edges[:-1])
        cut_lengths.append(numpy.diff(edges))
    return Chunks(numpy.concatenate(cut_starts), numpy.concatenate(cut_lengths))


def pack(lengths: Integers, context: int, seed: int, epoch: int) -> list[Integers]:
    """Pack chunks into windows by best-fit decreasing; return each window as indices of its chunks, in random order.

    Each chunk, longest first, goes where it leaves the least space; chunks of equal length are in random order.

    Args:
        lengths: of the chunks, tokens; none above `context`.
        context: length of a window, tokens.
    """
    random = generator(seed, "packing", epoch)
    shuffled = random.permutation(len(lengths))
    order = shuffled[numpy.argsort(-lengths[shuffled], kind="stable")]
    windows: list[list[int]] = []
    by_space: list[list[int]] = [[] for _ in range(context + 1)]  # by_space[s]: windows with s tokens of free space
    spaces = 0  # bit s is set if a window has s tokens of free space
    for chunk, length in zip(order.tolist(), lengths[order].tolist(), strict=True):
        fitting = spaces >> length
        if fitting:
            space = length + (fitting & -fitting).bit_length() - 1
            window = by_space[space].pop()
            if not by_space[space]:
                spaces ^= 1 << space
            windows[window].append(chunk)
        else:
            space, window = context, len(windows)
            windows.append([chunk])
        by_space[space - length].append(window)
        spaces |= 1 << (space - length)
    numbers = random.permutation(len(windows))
    return [numpy.array(windows[n], numpy.int64) for n in numbers.tolist()]

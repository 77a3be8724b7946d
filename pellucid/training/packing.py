"""Documents of all lengths → windows of one length: none is cut that fits, and little room is left over."""

from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from pellucid.randomness import generator

__all__ = ["Pieces", "cut_into_pieces", "pack"]

Numbers = NDArray[numpy.int64]


class Pieces(NamedTuple):
    """Stretches of text that are read in one go.

    Attributes:
        starts: where each begins in the ids.
        lengths: tokens read; each predicts the one after it.
    """

    starts: Numbers
    lengths: Numbers


def cut_into_pieces(starts: Numbers, lengths: Numbers, room: int, seed: int, epoch: int) -> Pieces:
    """Cut documents that do not fit, elsewhere in each epoch; the last token of a document is predicted, not read.

    Args:
        starts: where each document begins in the ids.
        lengths: its tokens, start and end included.
        room: tokens that are read in one go.
        seed: of the run.
        epoch: counted from 0.
    """
    read = lengths - 1
    fits = read <= room
    cut_starts, cut_lengths = [starts[fits]], [read[fits]]
    random = generator(seed, "cuts", epoch)
    for start, count in zip(starts[~fits].tolist(), read[~fits].tolist(), strict=True):
        borders = numpy.arange(int(random.integers(1, room + 1)), count, room)
        edges = numpy.concatenate(([0], borders, [count]))
        cut_starts.append(start + edges[:-1])
        cut_lengths.append(numpy.diff(edges))
    return Pieces(numpy.concatenate(cut_starts), numpy.concatenate(cut_lengths))


def pack(lengths: Numbers, room: int, seed: int, epoch: int) -> list[Numbers]:
    """Return windows, each as the numbers of the pieces in it, in random order.

    Best fit, longest first: each piece goes where it leaves the least room. Among equal lengths chance decides.

    Args:
        lengths: of the pieces, tokens; none above `room`.
        room: tokens of a window.
        seed: of the run.
        epoch: counted from 0.
    """
    random = generator(seed, "packing", epoch)
    shuffled = random.permutation(len(lengths))
    order = shuffled[numpy.argsort(-lengths[shuffled], kind="stable")]
    windows: list[list[int]] = []
    by_room: list[list[int]] = [[] for _ in range(room + 1)]
    open_rooms = 0  # bit r is set where a window has r tokens of room
    for piece, length in zip(order.tolist(), lengths[order].tolist(), strict=True):
        fitting = open_rooms >> length
        if fitting:
            left = length + (fitting & -fitting).bit_length() - 1
            window = by_room[left].pop()
            if not by_room[left]:
                open_rooms ^= 1 << left
            windows[window].append(piece)
        else:
            left, window = room, len(windows)
            windows.append([piece])
        by_room[left - length].append(window)
        open_rooms |= 1 << (left - length)
    numbers = random.permutation(len(windows))
    return [numpy.array(windows[n], numpy.int64) for n in numbers.tolist()]

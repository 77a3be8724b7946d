"""Kernel that splits bytes of word2vec's binary format into words and rows."""

from typing import Any

from numpy.typing import NDArray

from pellucid.kernels.compilation import kernel

__all__ = ["split_rows"]

Array = NDArray[Any]

_SPACE, _LF = 32, 10


@kernel
def split_rows(data: Array, room: Array, letters: Array, ends: Array, starts: Array) -> tuple[int, int, int]:
    """Split bytes into words and the bytes of their numbers, up to the last whole row.

    Line feeds before a word belong to the previous row: some programs end rows with one.

    Args:
        data: uint8 [bytes].
        room: uint8 [rows, bytes a row], filled with the numbers.
        letters: uint8 [bytes], filled with the words, a line feed after each.
        ends: int64 [rows], where each word ends in `letters`.
        starts: int64 [rows], where each word begins in `data`.

    Returns:
        The number of rows, the number of letters, and where the next row begins.
    """
    at = rows = used = next_row = 0
    size = room.shape[1]
    while rows < len(room):
        while at < len(data) and data[at] == _LF:
            at += 1
        starts[rows] = next_row = at
        while at < len(data) and data[at] != _SPACE:
            at += 1
        if at + 1 + size > len(data):
            break
        for i in range(next_row, at):
            letters[used] = data[i]
            used += 1
        ends[rows] = used
        letters[used] = _LF
        used += 1
        at += 1
        row, numbers = room[rows], data[at : at + size]
        for i in range(size):
            row[i] = numbers[i]
        at += size
        rows += 1
        next_row = at
    return rows, used, next_row

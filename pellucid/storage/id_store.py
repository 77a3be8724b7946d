"""Sequences of ids on disk, memory-mapped: a corpus larger than memory that opens instantly.

Two files: `NAME` has all ids one after another (int32, little-endian), `NAME.ends` the end of each sequence (int64).
Both are plain arrays that any tool can read; sequence i is `ids[ends[i - 1]:ends[i]]`.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, TypeVar, overload

import numpy
from numpy.typing import ArrayLike, NDArray

from pellucid.errors import UserError
from pellucid.storage.files import write_error

__all__ = ["IdStore", "IdStoreWriter"]

_IDS: numpy.dtype[numpy.int32] = numpy.dtype("<i4")
_ENDS: numpy.dtype[numpy.int64] = numpy.dtype("<i8")
Integer = TypeVar("Integer", numpy.int32, numpy.int64)

_COPY_AGAIN = "Copy it again from an intact copy, or create it again from the text."
_BUFFER = 1 << 20  # ids buffered before they are written, 4 MiB


class IdStore(Sequence[NDArray[numpy.int32]]):
    """Memory-mapped sequences of ids; `store[i]` is a read-only int32 array of length `store.lengths[i]`.

    Attributes:
        ids: all ids one after another.
        ends: where each sequence ends in `ids`.

    Raises:
        UserError: if the files are missing or do not match (a writer was killed before it closed them).
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.ends = _mapped(_ends_path(self.path), _ENDS)
        self.ids = _mapped(self.path, _IDS)
        expected = int(self.ends[-1]) if len(self.ends) else 0
        if expected != len(self.ids):
            what = f"id store is damaged: expected {expected} ids, found {len(self.ids)}"
            raise UserError(what, where=str(self.path), hint=_COPY_AGAIN)

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, index: int) -> NDArray[numpy.int32]: ...
    @overload
    def __getitem__(self, index: slice) -> list[NDArray[numpy.int32]]: ...
    def __getitem__(self, index: int | slice) -> NDArray[numpy.int32] | list[NDArray[numpy.int32]]:
        """Sequence `index`, or a list of sequences for a slice."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(f"sequence {index} of {len(self)}")
        start = self.ends[index - 1] if index else 0
        return self.ids[start : self.ends[index]]

    def __iter__(self) -> Iterator[NDArray[numpy.int32]]:
        start = 0
        for end in self.ends:
            yield self.ids[start:end]
            start = end

    @cached_property
    def lengths(self) -> NDArray[numpy.int64]:
        """Length of every sequence, in ids; cached in memory, 8 bytes per sequence."""
        return numpy.diff(self.ends, prepend=0)

    def remove(self) -> None:
        """Remove the two files; arrays already mapped stay readable."""
        for path in (_ends_path(self.path), self.path):
            path.unlink(missing_ok=True)


class IdStoreWriter:
    """Write sequences of ids one after another; together they need not fit in memory.

    Raises:
        UserError: if the disk is full or the path cannot be written.
        ValueError: for an id that does not fit in an int32.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._pending: list[NDArray[numpy.int32]] = []
        self._pending_ids = 0
        self._pending_ends: list[int] = []
        self._end = 0
        self._files: list[BinaryIO] = []
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            for path in (_part(self.path), _part(_ends_path(self.path))):
                self._files.append(path.open("wb"))
        except OSError as error:
            self._close_files()
            raise write_error(self.path, error) from error

    def append(self, ids: ArrayLike) -> None:
        """Add one sequence, which may be empty."""
        given = numpy.asarray(ids)
        sequence = given.astype(_IDS) if given.size else numpy.empty(0, _IDS)
        if sequence.ndim != 1 or not numpy.array_equal(sequence, given.reshape(sequence.shape)):
            raise ValueError(f"expected a flat sequence of int32 ids, got {given.dtype} of shape {given.shape}")
        self._end += len(sequence)
        self._pending.append(sequence)
        self._pending_ids += len(sequence)
        self._pending_ends.append(self._end)
        if self._pending_ids >= _BUFFER or len(self._pending_ends) >= _BUFFER:
            self._write()

    def extend(self, ids: NDArray[numpy.int32], lengths: NDArray[numpy.int64]) -> None:
        """Add many sequences, one after another in `ids`."""
        if ids.dtype != numpy.int32 or ids.ndim != 1 or int(lengths.sum()) != len(ids):
            raise ValueError(f"expected {int(lengths.sum())} int32 ids, got {len(ids)} of {ids.dtype}")
        self._write()
        self._write_arrays(ids.astype(_IDS, copy=False), self._end + numpy.cumsum(lengths))
        self._end += len(ids)

    def close(self) -> IdStore:
        """Finish the files, move them into place, and open them for reading."""
        self._write()
        try:
            for file in self._files:
                file.flush()
                os.fsync(file.fileno())
            self._close_files()
            # The ends are renamed last: a store without them does not open.
            _ends_path(self.path).unlink(missing_ok=True)
            os.replace(_part(self.path), self.path)
            os.replace(_part(_ends_path(self.path)), _ends_path(self.path))
        except OSError as error:
            raise write_error(self.path, error) from error
        return IdStore(self.path)

    def discard(self) -> None:
        """Remove everything written so far."""
        self._close_files()
        for path in (_part(self.path), _part(_ends_path(self.path))):
            path.unlink(missing_ok=True)

    def __enter__(self) -> IdStoreWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Remove the parts unless the block closed the writer."""
        self.discard()

    def _write(self) -> None:
        if not self._pending_ends:
            return
        self._write_arrays(numpy.concatenate(self._pending), numpy.array(self._pending_ends))
        self._pending, self._pending_ids, self._pending_ends = [], 0, []

    def _write_arrays(self, ids: NDArray[numpy.int32], ends: NDArray[numpy.int64]) -> None:
        try:
            self._files[0].write(numpy.ascontiguousarray(ids).data)
            self._files[1].write(numpy.ascontiguousarray(ends, _ENDS).data)
        except OSError as error:
            raise write_error(self.path, error) from error

    def _close_files(self) -> None:
        for file in self._files:
            file.close()
        self._files = []


def _ends_path(path: Path) -> Path:
    return path.with_name(path.name + ".ends")


def _part(path: Path) -> Path:
    return path.with_name(path.name + ".part")


def _mapped(path: Path, dtype: numpy.dtype[Integer]) -> NDArray[Integer]:
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size == 0:  # an empty file cannot be mapped
                return numpy.empty(0, dtype)
            if size % dtype.itemsize:
                what = f"id store is damaged: {size} bytes is not a whole number of ids"
                raise UserError(what, where=str(path), hint=_COPY_AGAIN)
            return numpy.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), dtype)
    except OSError as error:
        raise UserError(f"cannot read id store: {error.strerror}", where=str(path), hint=_COPY_AGAIN) from error

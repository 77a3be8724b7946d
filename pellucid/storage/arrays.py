"""Named NumPy arrays in safetensors files: written without a copy, memory-mapped when read.

PyTorch is not needed, and a file of any size opens instantly: its numbers are read on access.
"""

import json
import math
import mmap
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from pellucid.errors import UserError
from pellucid.storage.files import CHECK_PERMISSIONS, atomic_file

__all__ = ["map_arrays", "write_arrays"]

_DTYPES: dict[str, numpy.dtype[Any]] = {
    "F64": numpy.dtype("<f8"),
    "I64": numpy.dtype("<i8"),
    "U64": numpy.dtype("<u8"),
    "F32": numpy.dtype("<f4"),
    "I32": numpy.dtype("<i4"),
    "F16": numpy.dtype("<f2"),
    "U8": numpy.dtype("u1"),
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_ALIGNMENT = 64  # bytes; the header is padded with spaces, so that the first array begins on a cache line
_MAX_HEADER = 100_000_000  # bytes; the limit of the safetensors library
_BLOCK = 1 << 24  # bytes written at once


def write_arrays(path: str | Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write `arrays` to `path` atomically; the largest items come first, so that all of them are aligned.

    Raises:
        UserError: if the disk is full or the file cannot be written; an existing file is left unchanged.
    """
    order = sorted(arrays, key=lambda name: -arrays[name].itemsize)  # stable: equals keep their order
    little = {name: numpy.asarray(arrays[name], arrays[name].dtype.newbyteorder("<"), order="C") for name in order}
    header: dict[str, Any] = {}
    end = 0
    for name, array in little.items():
        start, end = end, end + array.nbytes
        header[name] = {"dtype": _NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode("utf-8")
    text += b" " * (-(8 + len(text)) % _ALIGNMENT)
    with atomic_file(path) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in little.values():
            data = array.reshape(-1).view(numpy.uint8)
            for start in range(0, len(data), _BLOCK):
                file.write(data[start : start + _BLOCK].data)


def map_arrays(path: str | Path) -> dict[str, NDArray[Any]]:
    """Memory-map the arrays of the file at `path`, read-only.

    Raises:
        UserError: if the file is missing, truncated, not a safetensors file, or has types other than plain numbers.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
    except FileNotFoundError as error:
        raise UserError(f"{path.name} is missing from {path.parent}", where=str(path), hint=_COPY_AGAIN) from error
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}", where=str(path), hint=CHECK_PERMISSIONS) from error
    try:
        return _arrays(whole, size)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UserError(f"{path.name} is damaged: {error}", where=str(path), hint=_COPY_AGAIN) from error


_COPY_AGAIN = "Copy the folder again from an intact copy, or create it again."


def _arrays(whole: mmap.mmap | bytes, size: int) -> dict[str, NDArray[Any]]:
    length = int.from_bytes(whole[:8], "little")
    if size < 8 or length > min(size - 8, _MAX_HEADER):
        raise ValueError("it ends within its header")
    arrays, reached = {}, 0
    fields: dict[str, Any] = json.loads(whole[8 : 8 + length])
    fields.pop("__metadata__", None)
    for name, about in sorted(fields.items(), key=lambda item: item[1]["data_offsets"]):
        dtype, shape = _DTYPES[about["dtype"]], tuple(about["shape"])
        start, end = about["data_offsets"]
        if start != reached or min(shape, default=0) < 0 or end - start != math.prod(shape) * dtype.itemsize:
            raise ValueError(f"the array {name} does not fill its range")
        if 8 + length + end > size:
            raise ValueError(f"it ends within the array {name}")
        flat = numpy.frombuffer(whole, dtype, math.prod(shape), 8 + length + start)
        arrays[name], reached = flat.reshape(shape), end
    if 8 + length + reached != size:
        raise ValueError("there is data after its last array")
    return arrays

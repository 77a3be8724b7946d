"""Named tensors in safetensors files: written whole or not at all, nothing in them is ever executed.

PyTorch is loaded by the functions that make tensors, so that `pellucid info` reads sizes without it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from safetensors import SafetensorError, safe_open

from pellucid.errors import UserError
from pellucid.storage.files import atomic_path

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["TensorShape", "read_shapes", "read_tensors", "write_tensors"]


class TensorShape(NamedTuple):
    """What a file says about a tensor before any of its numbers are read."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)


def write_tensors(path: str | Path, tensors: Mapping[str, Tensor]) -> None:
    """Write `tensors` to `path`, whole or not at all.

    Raises:
        UserError: if the disk is full or the file cannot be written; what stood there before stays.
        RuntimeError: if two of them share memory: a caller's mistake, save one of them.
    """
    from safetensors.torch import save_file

    plain = {name: tensor.detach().to("cpu").contiguous() for name, tensor in tensors.items()}
    with atomic_path(path) as temporary:
        try:
            save_file(plain, temporary)
        except SafetensorError as error:
            raise _as_os_error(error) from error


def read_tensors(path: str | Path, device: str = "cpu") -> dict[str, Tensor]:
    """Read every tensor of the file at `path` onto `device`.

    Raises:
        UserError: if the file is missing, cut off, or no safetensors file.
    """
    from safetensors.torch import load_file

    _require(Path(path))
    try:
        return load_file(path, device=device)
    except (SafetensorError, OSError) as error:
        raise _damaged(path, error) from error


def read_shapes(path: str | Path) -> dict[str, TensorShape]:
    """Read names, types and shapes from the head of the file at `path`, in the order of the file.

    Raises:
        UserError: if the file is missing, cut off, or no safetensors file.
    """
    _require(Path(path))
    try:
        with safe_open(path, framework="numpy") as file:
            slices = {name: file.get_slice(name) for name in file.offset_keys()}
            return {name: TensorShape(part.get_dtype(), tuple(part.get_shape())) for name, part in slices.items()}
    except (SafetensorError, OSError) as error:
        raise _damaged(path, error) from error


def _require(path: Path) -> None:
    if not path.is_file():
        raise UserError(
            f"{path.name} is missing from {path.parent}",
            where=str(path),
            hint="If its training was stopped early, go on with the same command and `--resume`.",
        )


def _damaged(path: str | Path, error: Exception) -> UserError:
    return UserError(
        f"{Path(path).name} is damaged: {error}",
        where=str(path),
        hint="Copy the file again from where it is whole, or train again.",
    )


def _as_os_error(error: SafetensorError) -> Exception:
    """Return the operating system's error that the library tells of only in words, or `error` itself."""
    number = re.search(r"os error (\d+)", str(error))
    return OSError(int(number[1]), str(error)) if number else error

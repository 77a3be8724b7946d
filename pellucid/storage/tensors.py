"""Named tensors in safetensors files: written atomically, and never executed.

PyTorch is imported only by the functions that create tensors, so that `pellucid info` reads sizes without it.
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
    """A tensor's type and shape, read from a file's header."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)


def write_tensors(path: str | Path, tensors: Mapping[str, Tensor]) -> None:
    """Write `tensors` to `path` atomically.

    Raises:
        UserError: if the file cannot be written; an existing file is left unchanged.
        RuntimeError: if two of them share memory; save only one of them.
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
        UserError: if the file is missing, truncated, or not a safetensors file.
    """
    from safetensors.torch import load_file

    _require(Path(path))
    try:
        return load_file(path, device=device)
    except (SafetensorError, OSError) as error:
        raise _damaged(path, error) from error


def read_shapes(path: str | Path) -> dict[str, TensorShape]:
    """Read names, types and shapes from the header of the file at `path`, in the order of the file.

    Raises:
        UserError: if the file is missing, truncated, or not a safetensors file.
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
            hint="If its training was stopped early, run the same command with `--resume`.",
        )


def _damaged(path: str | Path, error: Exception) -> UserError:
    return UserError(
        f"{Path(path).name} is damaged: {error}",
        where=str(path),
        hint="Copy the file again from an intact copy, or train again.",
    )


def _as_os_error(error: SafetensorError) -> Exception:
    """Recover the operating system's error that the library reports only as text; `error` itself if there is none."""
    number = re.search(r"os error (\d+)", str(error))
    return OSError(int(number[1]), str(error)) if number else error

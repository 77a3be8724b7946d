"""GGUF, the file format of llama.cpp: settings, vocabulary and weights in one file, often quantised."""

import struct
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import Tensor

from pellucid.errors import UserError
from pellucid.interop.foreign_model import ForeignModel
from pellucid.interop.gguf_config import read_gguf_config
from pellucid.interop.gguf_tokenizer import read_gguf_tokenizer

__all__ = ["MAGIC", "read_gguf"]

MAGIC = b"GGUF"
_DAMAGE = (
    ValueError, LookupError, TypeError, AttributeError, AssertionError, ArithmeticError, MemoryError, struct.error,
)  # fmt: skip


def read_gguf(path: Path) -> ForeignModel:
    """Read a GGUF file; weights are read and dequantised on demand.

    Raises:
        UserError: if the package `gguf` is missing, the file is damaged, or its model is of an unknown kind.
    """
    gguf = _package()
    try:
        reader = gguf.GGUFReader(path)
        settings: dict[str, Any] = {name: field.contents() for name, field in reader.fields.items()}
        tensors = {tensor.name: partial(_unpacked, gguf, tensor, str(path)) for tensor in reader.tensors}
        formats: Counter[str] = Counter()
        for tensor in reader.tensors:
            formats[tensor.tensor_type.name] += int(tensor.n_elements)
    except OSError as error:
        raise UserError(
            f"cannot read {path}: {error.strerror or error}",
            where=str(path),
            hint="Check the path and the permissions of the file.",
        ) from error
    except _DAMAGE as error:
        raise UserError(
            f"{path.name} is no whole GGUF file: {error}", where=str(path), hint="Copy or download the file again."
        ) from error
    if settings.get("split.count", 1) not in (0, 1):
        raise UserError(
            f"{path.name} is one of {settings['split.count']} parts of a model",
            where=str(path),
            hint="Join them with llama.cpp's `llama-gguf-split --merge`, then import the whole.",
        )
    shape = read_gguf_config(settings, tensors, str(path))
    name = "".join(sign if sign.isprintable() else " " for sign in str(settings.get("general.name") or path.stem))
    precision = formats.most_common(1)[0][0] if formats else ""
    return ForeignModel(name, precision, shape, tensors, read_gguf_tokenizer(settings, str(path)))


def _package() -> Any:
    try:
        import gguf
    except ImportError as error:
        raise UserError(
            "reading GGUF needs the package gguf, which is not installed",
            where="gguf",
            hint="Install it: `pip install -c constraints.txt '.[gguf]'` in the clone.",
        ) from error
    return gguf


def _unpacked(gguf: Any, tensor: Any, where: str) -> Tensor:
    """Read a tensor: unchanged if it has 16 or 32 bit floats, else dequantised to float32."""
    kind = tensor.tensor_type
    shape = tuple(int(size) for size in reversed(tensor.shape))
    try:
        if kind.name in ("F32", "F16"):
            return torch.from_numpy(numpy.array(tensor.data)).reshape(shape)
        wide = torch.from_numpy(numpy.ascontiguousarray(gguf.quants.dequantize(tensor.data, kind))).reshape(shape)
    except NotImplementedError as error:
        raise UserError(
            f"the tensor {tensor.name} is packed as {kind.name}, which the package gguf cannot unpack",
            where=where,
            hint="Choose a file with other packing: Q8_0, Q4_K_M and their like can be read.",
        ) from error
    except _DAMAGE as error:
        raise UserError(
            f"the tensor {tensor.name} is damaged: {error}", where=where, hint="Copy or download the file again."
        ) from error
    return wide.bfloat16() if kind.name == "BF16" else wide

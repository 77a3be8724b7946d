"""Hashes of words, for lookup without a table of strings."""

from typing import Any

import numpy
from numpy.typing import NDArray

from pellucid.kernels.compilation import kernel

__all__ = ["hash_words"]

_BASIS = numpy.uint64(0xCBF29CE484222325)
_PRIME = numpy.uint64(0x100000001B3)


@kernel
def hash_words(letters: NDArray[Any], ends: NDArray[Any], hashes: NDArray[Any]) -> None:
    """Fill hashes [words] with the 64-bit FNV-1a of each word's bytes; words are separated by one byte."""
    start = 0
    for word in range(len(ends)):
        value = _BASIS
        for i in range(start, ends[word]):
            value = (value ^ numpy.uint64(letters[i])) * _PRIME
        hashes[word] = value
        start = ends[word] + 1

"""A number for each word, so that a word is found among a million without a table of a million strings."""

from typing import Any

import numpy
from numpy.typing import NDArray

from pellucid.kernels.compilation import kernel

__all__ = ["hash_words"]

_BASIS = numpy.uint64(0xCBF29CE484222325)
_PRIME = numpy.uint64(0x100000001B3)


@kernel
def hash_words(letters: NDArray[Any], ends: NDArray[Any], hashes: NDArray[Any]) -> None:
    """Fill hashes [words] with FNV-1a, 64 bits, of each word's bytes; a separator stands between two words."""
    start = 0
    for word in range(len(ends)):
        value = _BASIS
        for place in range(start, ends[word]):
            value = (value ^ numpy.uint64(letters[place])) * _PRIME
        hashes[word] = value
        start = ends[word] + 1

"""One seed → named, independent generators.

Every random choice of a run is a pure function of (seed, name, counters): nothing has to be saved to go on where a
killed run stopped, and no part's draws shift another's.
"""

import hashlib

import numpy

__all__ = ["derive_seed", "generator"]


def derive_seed(seed: int, *name: str | int) -> int:
    """Return a 63-bit seed for the part of the run called `name`, independent of every other name's."""
    text = "\x1f".join([str(seed), *(f"{type(part).__name__}:{part}" for part in name)])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") >> 1


def generator(seed: int, *name: str | int) -> numpy.random.Generator:
    """Return the NumPy generator for the part of the run called `name`."""
    return numpy.random.Generator(numpy.random.PCG64(derive_seed(seed, *name)))

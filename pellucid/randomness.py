"""Independent, named random generators from one seed.

Every random choice of a run is a pure function of (seed, name, counters): a killed run resumes without saved generator
states, and one part's choices never shift another's.
"""

import hashlib

import numpy

__all__ = ["derive_seed", "generator"]


def derive_seed(seed: int, *name: str | int) -> int:
    """Derive a 63-bit seed for the part of the run called `name`, independent of those of other names."""
    text = "\x1f".join([str(seed), *(f"{type(part).__name__}:{part}" for part in name)])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") >> 1


def generator(seed: int, *name: str | int) -> numpy.random.Generator:
    """Create the NumPy generator for the part of the run called `name`."""
    return numpy.random.Generator(numpy.random.PCG64(derive_seed(seed, *name)))

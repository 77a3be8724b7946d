"""Barriers between threads inside a kernel, where the work between two barriers is too short for Python's locks.

A barrier is two counters: threads that have arrived, and the generation, which counts completed barriers. The last
thread to arrive resets the first and increments the second; the others spin until the generation changes, and yield
their core from time to time.
"""

import os
from typing import Any

import numpy
from llvmlite import ir
from numba.core import cgutils
from numpy.typing import NDArray

from pellucid.kernels.compilation import kernel
from pellucid.kernels.simd import Builder, Int64, Integer, instruction

__all__ = ["create_barrier", "wait_at_barrier"]

_CACHE_LINE = 16  # numbers between the two counters, which puts them on separate cache lines
_SPINS = 200  # before a thread yields its core
_YIELD = "SwitchToThread" if os.name == "nt" else "sched_yield"


def create_barrier() -> NDArray[numpy.int64]:
    """Create a barrier; pass the same one to all threads."""
    return numpy.zeros(2 * _CACHE_LINE, numpy.int64)


@instruction
def _fetch_add(builder: Builder, address: Integer, number: Integer) -> Integer:
    """Add to a shared number atomically, and return its old value."""
    place = builder.inttoptr(address, Int64.as_pointer())
    return builder.atomic_rmw("add", place, number, "acq_rel")


@instruction
def _load(builder: Builder, address: Integer) -> Integer:
    """Load a shared number, with acquire ordering: everything written before it was stored is visible."""
    return builder.load_atomic(builder.inttoptr(address, Int64.as_pointer()), "acquire", 8)


@instruction
def _yield_thread(builder: Builder) -> None:
    """Let another waiting thread run."""
    kind = ir.FunctionType(ir.IntType(32), [])
    builder.call(cgutils.get_or_insert_function(builder.module, kind, _YIELD), [])


@kernel
def wait_at_barrier(barrier: Any, threads: Any) -> None:
    """Wait until all threads have arrived; each then sees everything that the others wrote before."""
    if threads == 1:
        return
    arrived, generation = barrier.ctypes.data, barrier.ctypes.data + 8 * _CACHE_LINE
    number = _load(generation)
    if _fetch_add(arrived, 1) == threads - 1:
        _fetch_add(arrived, -threads)
        _fetch_add(generation, 1)
        return
    spins = 0
    while _load(generation) == number:
        spins += 1
        if spins >= _SPINS:
            _yield_thread()
            spins = 0

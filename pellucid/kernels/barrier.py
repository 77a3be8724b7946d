"""Threads that wait for each other within a kernel: what lies between two meetings is too short for a lock of Python's.

A meeting is two numbers, how many have come and how many meetings there were. The last to come sets the first to zero
and counts the second up; the others look at it until it has changed, and offer their core to others in between.
"""

import os
from typing import Any

import numpy
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numpy.typing import NDArray

from pellucid.kernels.compilation import kernel
from pellucid.kernels.simd import Builder, Int64, instruction

__all__ = ["create_barrier", "wait_at_barrier"]

_CACHE_LINE = 16  # numbers between the two, so that they lie on cache lines of their own
_SPINS = 200  # before a core is offered
_YIELD = "SwitchToThread" if os.name == "nt" else "sched_yield"


def create_barrier() -> NDArray[numpy.int64]:
    """Create a barrier, to be shared by all threads."""
    return numpy.zeros(2 * _CACHE_LINE, numpy.int64)


@instruction
def _fetch_add(typing_context: Any, address: Any, number: Any) -> Any:
    """Add to a number that other threads add to, too, and return what it was."""

    def emit(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        place = builder.inttoptr(arguments[0], Int64.as_pointer())
        return builder.atomic_rmw("add", place, arguments[1], "acq_rel")

    return types.int64(types.int64, types.int64), emit


@instruction
def _load(typing_context: Any, address: Any) -> Any:
    """Return a number that another thread may have written, and see all that it wrote before."""

    def emit(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(builder.inttoptr(arguments[0], Int64.as_pointer()), "acquire", 8)

    return types.int64(types.int64), emit


@instruction
def _yield_thread(typing_context: Any) -> Any:
    """Let another thread run, if one waits."""

    def emit(context: Any, builder: Builder, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, _YIELD), [])
        return context.get_dummy_value()

    return types.void(), emit


@kernel
def wait_at_barrier(barrier: Any, threads: Any) -> None:
    """Return when as many threads have come; what each wrote before, all see after."""
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

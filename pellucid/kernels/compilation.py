"""Compile inner loops with Numba to machine code that is cached on disk where possible."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import ParamSpec, TypeVar

from numba import njit

__all__ = ["kernel", "kernel_using"]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

# Numbers are finite, and a*b+c may be rounded once; sums keep their written order.
_FLOATS = {"nnan", "ninf", "nsz", "contract"}


def kernel(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile `function` at its first call, or load its machine code from the cache of an earlier process.

    The cache is the first writable folder of `NUMBA_CACHE_DIR`, `__pycache__` next to the file, and the user's cache
    folder. If none is writable (a read-only installation run by a user without a home), Numba would reject the
    function; here it is compiled again in every process.

    The cache detects changes of the kernel's own file, but not of functions or constants in other files: keep what a
    kernel calls or reads in its own file, or use `kernel_using`. Division by zero gives inf or NaN instead of an
    exception; indices are not checked.
    """
    try:
        return njit(cache=True, nogil=True, error_model="numpy", fastmath=_FLOATS)(function)
    except RuntimeError:  # "cannot cache function …: no locator available"
        return njit(nogil=True, error_model="numpy", fastmath=_FLOATS)(function)


def kernel_using(*modules: ModuleType) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Create a decorator like `kernel` for kernels that call kernels or instructions of other modules.

    The cache is keyed by the function's name, so a hash of the modules' content is appended to it: when one of their
    files changes, the kernel is compiled again.
    """
    content = hashlib.sha256()
    for module in modules:
        content.update(Path(str(module.__file__)).read_bytes())

    def decorated(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        function.__qualname__ += f"_{content.hexdigest()[:12]}"
        return kernel(function)

    return decorated

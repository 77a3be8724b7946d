"""How inner loops are compiled: by Numba, to machine code that is kept on disk where the disk allows it."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import ParamSpec, TypeVar

from numba import njit

__all__ = ["kernel", "kernel_using"]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

# Numbers are finite here, and a*b+c may be rounded once; sums keep the order in which they are written.
_FLOATS = {"nnan", "ninf", "nsz", "contract"}


def kernel(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile `function` at its first call, or fetch its machine code from the cache of an earlier process.

    The cache lies in the first place that can be written: `NUMBA_CACHE_DIR`, `__pycache__` beside the file, the
    user's cache folder. Where none can be (a read-only installation run by a user without a home), Numba would refuse
    the function; here it is compiled anew in every process.

    The cache notices an edited file by its content, but not an edited callee or constant in another file: whatever a
    kernel calls or reads from its module stands in its own file, or it is made by `kernel_using`. A division by zero
    gives inf or NaN, no exception; indices are not checked.
    """
    try:
        return njit(cache=True, nogil=True, error_model="numpy", fastmath=_FLOATS)(function)
    except RuntimeError:  # "cannot cache function …: no locator available"
        return njit(nogil=True, error_model="numpy", fastmath=_FLOATS)(function)


def kernel_using(*modules: ModuleType) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Return a decorator like `kernel`, for what calls kernels or instructions of other modules.

    The cache goes by a function's name, so that gets a sum of the modules' content behind it: once one of their files
    is edited, the machine code is looked for under another name.
    """
    content = hashlib.sha256()
    for module in modules:
        content.update(Path(str(module.__file__)).read_bytes())

    def decorated(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        function.__qualname__ += f"_{content.hexdigest()[:12]}"
        return kernel(function)

    return decorated

"""Package exports that are imported on first use (PEP 562).

They let `import pellucid` and `pellucid --help` start without loading PyTorch or Numba.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Create a package's `__getattr__` and `__dir__`.

    Args:
        modules: for each exported name, the module that defines it, relative to the package.
    """

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    return find, lambda: sorted({*modules, *vars(import_module(package))})

"""Package exports that are imported on first use (PEP 562).

They let `import pellucid` and `pellucid --help` start without loading PyTorch or Numba.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(
    package: str, exports: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Create a package's `__getattr__` and `__dir__`.

    Args:
        exports: for each module, relative to the package, the names that it defines and the package exports.
    """
    modules = {name: module for module, names in exports.items() for name in names}

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    return find, lambda: sorted({*modules, *vars(import_module(package))})

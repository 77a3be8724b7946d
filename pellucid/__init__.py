"""Pellucid: train translators from your own text, on the machine you have, and see every number that makes them work.

The public names load what they need when they are first used: `import pellucid` loads neither PyTorch nor Numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pellucid.errors import UserError
    from pellucid.generation.load import load
    from pellucid.generation.translation import Translation
    from pellucid.training.train_translator import train_translator
    from pellucid.word2vec.vectors import WordVectors

__all__ = ["Translation", "UserError", "WordVectors", "__version__", "load", "train_translator"]

__version__ = "0.1.0"

_HOMES = {
    "Translation": "pellucid.generation.translation",
    "UserError": "pellucid.errors",
    "WordVectors": "pellucid.word2vec.vectors",
    "load": "pellucid.generation.load",
    "train_translator": "pellucid.training.train_translator",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pellucid' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""Weights → text: beam search, and strings in, strings out."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pellucid.generation.beam import Hypothesis, beam_search
    from pellucid.generation.config import GenerationConfig
    from pellucid.generation.placeholders import protect, protect_pair
    from pellucid.generation.translate import Translator
    from pellucid.generation.translation import Translation

__all__ = [
    "GenerationConfig",
    "Hypothesis",
    "Translation",
    "Translator",
    "beam_search",
    "protect",
    "protect_pair",
]

_HOME = {
    "GenerationConfig": "config",
    "Hypothesis": "beam",
    "Translation": "translation",
    "Translator": "translate",
    "beam_search": "beam",
    "protect": "placeholders",
    "protect_pair": "placeholders",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__

"""Weights → text: beam search, and strings in, strings out."""

from typing import TYPE_CHECKING

from pellucid.lazy import lazy_names

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

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "GenerationConfig": "config",
        "Hypothesis": "beam",
        "Translation": "translation",
        "Translator": "translate",
        "beam_search": "beam",
        "protect": "placeholders",
        "protect_pair": "placeholders",
    },
)

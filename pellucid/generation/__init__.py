"""Weights → text: beam search, sampling, and strings in, strings out."""

from typing import TYPE_CHECKING

from pellucid.lazy import lazy_names

if TYPE_CHECKING:
    from pellucid.generation.beam import Hypothesis, beam_search
    from pellucid.generation.config import GenerationConfig
    from pellucid.generation.decoder import Decoder
    from pellucid.generation.generate import LanguageModel
    from pellucid.generation.generated import Generation
    from pellucid.generation.placeholders import protect, protect_pair
    from pellucid.generation.sampling_config import SamplingConfig
    from pellucid.generation.text_score import TextScore
    from pellucid.generation.translate import Translator
    from pellucid.generation.translation import Translation

__all__ = [
    "Decoder",
    "Generation",
    "GenerationConfig",
    "Hypothesis",
    "LanguageModel",
    "SamplingConfig",
    "TextScore",
    "Translation",
    "Translator",
    "beam_search",
    "protect",
    "protect_pair",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Decoder": "decoder",
        "Generation": "generated",
        "GenerationConfig": "config",
        "Hypothesis": "beam",
        "LanguageModel": "generate",
        "SamplingConfig": "sampling_config",
        "TextScore": "text_score",
        "Translation": "translation",
        "Translator": "translate",
        "beam_search": "beam",
        "protect": "placeholders",
        "protect_pair": "placeholders",
    },
)

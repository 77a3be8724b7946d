"""Weights → text: beam search, sampling, and strings in, strings out."""

from typing import TYPE_CHECKING

from pellucid.lazy import lazy_names

if TYPE_CHECKING:
    from pellucid.generation.beam import Hypothesis, beam_search
    from pellucid.generation.decoder import Decoder
    from pellucid.generation.generated_text import Generation
    from pellucid.generation.generation_config import GenerationConfig
    from pellucid.generation.placeholders import protect, protect_pair
    from pellucid.generation.sampling_config import SamplingConfig
    from pellucid.generation.text_score import TextScore
    from pellucid.generation.translation import Translation

__all__ = [
    "Decoder",
    "Generation",
    "GenerationConfig",
    "Hypothesis",
    "SamplingConfig",
    "TextScore",
    "Translation",
    "beam_search",
    "protect",
    "protect_pair",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Decoder": "decoder",
        "Generation": "generated_text",
        "GenerationConfig": "generation_config",
        "Hypothesis": "beam",
        "SamplingConfig": "sampling_config",
        "TextScore": "text_score",
        "Translation": "translation",
        "beam_search": "beam",
        "protect": "placeholders",
        "protect_pair": "placeholders",
    },
)

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
        "beam": ["Hypothesis", "beam_search"],
        "decoder": ["Decoder"],
        "generated_text": ["Generation"],
        "generation_config": ["GenerationConfig"],
        "placeholders": ["protect", "protect_pair"],
        "sampling_config": ["SamplingConfig"],
        "text_score": ["TextScore"],
        "translation": ["Translation"],
    },
)

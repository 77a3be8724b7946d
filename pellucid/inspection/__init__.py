"""Weights and a text → every number of the forward pass, labelled, verified, and editable."""

from typing import TYPE_CHECKING

from pellucid.lazy import lazy_names

if TYPE_CHECKING:
    from pellucid.inspection.effect import Effect
    from pellucid.inspection.labelled_array import LabelledArray
    from pellucid.inspection.lens import logit_lens
    from pellucid.inspection.look import Look, LookBatch
    from pellucid.inspection.look_at import (
        look_at_language_model,
        look_at_translator,
        what_if_language_model,
        what_if_translator,
    )
    from pellucid.inspection.residual_decomposition import decompose_residual, direct_logit_attribution
    from pellucid.inspection.residual_streams import effective_rank, token_identity
    from pellucid.inspection.score_decomposition import decompose_scores
    from pellucid.inspection.what_if import WhatIf
    from pellucid.inspection.word_vectors import WordLook, look_at_word_vectors

__all__ = [
    "Effect",
    "LabelledArray",
    "Look",
    "LookBatch",
    "WhatIf",
    "WordLook",
    "decompose_residual",
    "decompose_scores",
    "direct_logit_attribution",
    "effective_rank",
    "logit_lens",
    "look_at_language_model",
    "look_at_translator",
    "look_at_word_vectors",
    "token_identity",
    "what_if_language_model",
    "what_if_translator",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "effect": ["Effect"],
        "labelled_array": ["LabelledArray"],
        "lens": ["logit_lens"],
        "look": ["Look", "LookBatch"],
        "look_at": ["look_at_language_model", "look_at_translator", "what_if_language_model", "what_if_translator"],
        "residual_decomposition": ["decompose_residual", "direct_logit_attribution"],
        "residual_streams": ["effective_rank", "token_identity"],
        "score_decomposition": ["decompose_scores"],
        "what_if": ["WhatIf"],
        "word_vectors": ["WordLook", "look_at_word_vectors"],
    },
)

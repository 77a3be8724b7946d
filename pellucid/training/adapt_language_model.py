"""Context, sizes and dropout of a language model by its text and by how much the run will see."""

import numpy

from pellucid.training.adapt import expected_tokens, roughly
from pellucid.training.precision import training_dtype
from pellucid.training.prepare_text import PreparedText
from pellucid.training.recipe import LanguageModelRecipe
from pellucid.training.sitting import Asked

__all__ = ["CONTEXTS", "PASSES", "WIDTHS", "adapt_language_model"]

CONTEXTS = (32, 64, 128, 256)
"""A run's context is the shortest of these into which 99 in 100 documents fit, but not above the recipe's."""

WIDTHS: tuple[tuple[float, dict[str, int]], ...] = (
    (4e6, {"d_model": 192, "n_heads": 3, "d_ff": 512}),
    (float("inf"), {"d_model": 256, "n_heads": 4, "d_ff": 704}),
)
"""Sizes for runs that see fewer tokens than this: a short run learns more from more updates, smaller ones."""

PASSES: tuple[tuple[float, float], ...] = ((3.0, 0.0), (6.0, 0.1), (float("inf"), 0.2))
"""Dropout for runs that pass through the text fewer times than this: only repetition overfits."""

_SIZES = {"model.d_model", "model.n_heads", "model.d_ff", "model.n_kv_heads", "model.d_head"}


def adapt_language_model(
    asked: Asked[LanguageModelRecipe], prepared: PreparedText, seconds: float
) -> tuple[LanguageModelRecipe, list[str]]:
    """Return the recipe with its open settings chosen, and a line for people about them.

    Args:
        asked: with the recipe, and the settings that are not open.
        prepared: the text.
        seconds: of the run that have passed.
    """
    recipe, given = asked.recipe, asked.given
    dtype = training_dtype(recipe.training.precision, asked.device)
    tokens = expected_tokens(recipe, seconds, asked.device, dtype)
    passes = tokens / max(int(prepared.train.lengths.sum()), 1)
    model: dict[str, object] = {}
    if not asked.start_from:
        if "model.max_positions" not in given:
            model["max_positions"] = _context(prepared, recipe.model.max_positions)
        if not given & _SIZES and recipe.model.embeddings is None:
            model |= next(sizes for limit, sizes in WIDTHS if tokens < limit)
    if "model.dropout" not in given:
        model["dropout"] = next(dropout for limit, dropout in PASSES if passes < limit)
    chosen = recipe.model_copy(
        update={
            "model": recipe.model.model_copy(update=model),
            "training": recipe.training.model_copy(update={"adapt": False}),
        }
    )
    said = f"About {roughly(tokens)} tokens, {roughly(passes)} passes through the text: "
    return chosen, [said + ", ".join(f"{name} {value}" for name, value in model.items())] if model else []


def _context(prepared: PreparedText, most: int) -> int:
    wanted = float(numpy.percentile(prepared.train.lengths, 99)) if len(prepared.train.lengths) else 1.0
    return min(most, next((context for context in CONTEXTS if context >= wanted), most))

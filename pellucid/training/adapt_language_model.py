"""Context, sizes, dropout and batches of a language model by its text and by how much the run will see."""

from collections.abc import Set as AbstractSet
from typing import Any

import numpy
from numpy.typing import NDArray

from pellucid.training.adapt_translator import estimate_tokens, round_for_display
from pellucid.training.precision import training_dtype
from pellucid.training.prepare_text import PreparedText
from pellucid.training.recipe import LanguageModelRecipe
from pellucid.training.sitting import Asked

__all__ = [
    "CONTEXTS",
    "REGULARISATION_BY_EPOCHS",
    "SHORT_RUN_TOKENS",
    "SIZES_BY_TOKENS",
    "adapt_language_model",
    "choose_settings",
]

CONTEXTS = (32, 64, 128, 256)
"""A run's context is the shortest of these into which 99 in 100 documents fit, but not above the recipe's."""

SIZES_BY_TOKENS: tuple[tuple[float, dict[str, int]], ...] = (
    (4e6, {"d_model": 192, "n_heads": 3, "d_ff": 512}),
    (float("inf"), {"d_model": 256, "n_heads": 4, "d_ff": 704}),
)
"""Sizes for runs that see fewer tokens than this: a short run learns more from more updates, smaller ones."""

SHORT_RUN_TOKENS = 1.5e6
"""Runs that see fewer tokens than this take smaller steps, more of them, in a context of 128 at most."""

SHORT_RUN_TRAINING: dict[str, object] = {"batch_tokens": 768, "learning_rate": 2e-3, "warmup_steps": 60}
SHORT_RUN_CONTEXT = 128

REGULARISATION_BY_EPOCHS: tuple[tuple[float, float], ...] = ((3.0, 0.0), (6.0, 0.1), (float("inf"), 0.2))
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
    tokens = estimate_tokens(recipe, seconds, asked.device, dtype)
    if asked.start_from:
        given = {*given, *_SIZES, "model.max_positions"}
    return choose_settings(recipe, given, tokens, prepared.train.lengths)


def choose_settings(
    recipe: LanguageModelRecipe, given: AbstractSet[str], tokens: float, lengths: NDArray[numpy.integer[Any]]
) -> tuple[LanguageModelRecipe, list[str]]:
    """Return the recipe with its open settings chosen, and a line for people about them.

    Args:
        given: settings that are not open.
        tokens: that the run will see.
        lengths: of the documents, tokens.
    """
    epochs = tokens / max(int(lengths.sum()), 1)
    short = tokens < SHORT_RUN_TOKENS
    model: dict[str, object] = {}
    training: dict[str, object] = {}
    if "model.max_positions" not in given:
        most = recipe.model.max_positions
        model["max_positions"] = _context(lengths, min(most, SHORT_RUN_CONTEXT) if short else most)
    if not given & _SIZES and recipe.model.embeddings is None:
        model |= next(sizes for limit, sizes in SIZES_BY_TOKENS if tokens < limit)
    if "model.dropout" not in given:
        model["dropout"] = next(dropout for limit, dropout in REGULARISATION_BY_EPOCHS if epochs < limit)
    if short and recipe.training.steps is None:
        training = {name: value for name, value in SHORT_RUN_TRAINING.items() if f"training.{name}" not in given}
    chosen = recipe.model_copy(
        update={
            "model": recipe.model.model_copy(update=model),
            "training": recipe.training.model_copy(update={**training, "adapt": False}),
        }
    )
    said = f"About {round_for_display(tokens)} tokens, {round_for_display(epochs)} passes through the text: "
    settings = [f"{name} {value}" for name, value in (model | training).items()]
    return chosen, [said + ", ".join(settings)] if settings else []


def _context(lengths: NDArray[numpy.integer[Any]], most: int) -> int:
    wanted = float(numpy.percentile(lengths, 99)) if len(lengths) else 1.0
    return min(most, next((context for context in CONTEXTS if context >= wanted), most))

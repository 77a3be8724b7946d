"""Context, sizes, dropout and batches of a language model by its text and by how much its run will see."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any

import numpy
from numpy.typing import NDArray

from pellucid.training.adapt import apply_choices, rounded
from pellucid.training.recipe import LanguageModelRecipe

__all__ = [
    "CONTEXTS",
    "DROPOUT_BY_EPOCHS",
    "MODEL_SIZES",
    "SHORT_RUN_TOKENS",
    "SIZES_BY_TOKENS",
    "adapt_language_model",
]

CONTEXTS = (32, 64, 128, 256)
"""The context of a run is the shortest of these that holds 99 % of the documents, at most the recipe's."""

SIZES_BY_TOKENS: tuple[tuple[float, dict[str, int]], ...] = (
    (4e6, {"d_model": 192, "n_heads": 3, "d_ff": 512}),
    (float("inf"), {"d_model": 256, "n_heads": 4, "d_ff": 704}),
)
"""Sizes for runs that see fewer tokens than this: short runs learn more from more and smaller updates."""

MODEL_SIZES = frozenset({"model.d_model", "model.n_heads", "model.d_ff", "model.n_kv_heads", "model.d_head"})
"""Settings that are chosen together: if one is given, none is chosen."""

SHORT_RUN_TOKENS = 1.5e6
"""Runs that see fewer tokens than this get smaller and more updates, and a context of at most 128."""

SHORT_RUN_TRAINING: dict[str, object] = {"batch_tokens": 768, "learning_rate": 2e-3, "warmup_steps": 60}
SHORT_RUN_CONTEXT = 128

DROPOUT_BY_EPOCHS: tuple[tuple[float, float], ...] = ((3.0, 0.0), (6.0, 0.1), (float("inf"), 0.2))
"""Dropout for runs of fewer epochs than this: only repetition overfits."""


def adapt_language_model(
    recipe: LanguageModelRecipe,
    decided: AbstractSet[str],
    expect: Callable[[LanguageModelRecipe], float],
    lengths: NDArray[numpy.integer[Any]],
) -> tuple[LanguageModelRecipe, str]:
    """Choose the settings that are still open.

    Args:
        recipe: what applies so far.
        decided: settings by `section.field` that are not open.
        expect: estimates the tokens that a run with a recipe will see here; larger sizes are slower.
        lengths: of the documents, tokens.

    Returns:
        The recipe with the choices, and a line about them; empty if there are none.
    """
    tokens = expect(recipe)
    short = tokens < SHORT_RUN_TOKENS
    model: dict[str, object] = {}
    training: dict[str, object] = {}
    if "model.max_positions" not in decided:
        longest = recipe.model.max_positions
        model["max_positions"] = _choose_context(lengths, min(longest, SHORT_RUN_CONTEXT) if short else longest)
    if not decided & MODEL_SIZES and recipe.model.embeddings is None:
        model |= next(sizes for limit, sizes in SIZES_BY_TOKENS if tokens < limit)
        tokens = expect(recipe.model_copy(update={"model": recipe.model.model_copy(update=model)}))
    epochs = tokens / max(int(lengths.sum()), 1)
    if "model.dropout" not in decided:
        model["dropout"] = next(dropout for limit, dropout in DROPOUT_BY_EPOCHS if epochs < limit)
    if short and recipe.training.steps is None:
        training = {name: value for name, value in SHORT_RUN_TRAINING.items() if f"training.{name}" not in decided}
    return apply_choices(recipe, model, training, f"{rounded(tokens)} tokens, {rounded(epochs)} epochs")


def _choose_context(lengths: NDArray[numpy.integer[Any]], longest: int) -> int:
    wanted = float(numpy.percentile(lengths, 99)) if len(lengths) else 1.0
    return min(longest, next((context for context in CONTEXTS if context >= wanted), longest))

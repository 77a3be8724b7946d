"""Choose a translator's width, batch size and regularisation from the expected number of training tokens.

Settings that the user has set stay as they are.
"""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from pellucid.training.adapt import apply_choices, rounded
from pellucid.training.recipe import TranslatorRecipe

__all__ = ["REGULARISATION_BY_EPOCHS", "SIZES_BY_TOKENS", "Sizes", "adapt_translator"]


class Sizes(NamedTuple):
    """Sizes of a model (`model.*`), with its batch size and learning rate (`training.*`)."""

    model: dict[str, int]
    training: dict[str, float]


SIZES_BY_TOKENS: tuple[tuple[float, Sizes], ...] = (
    (4e6, Sizes({"d_model": 192, "n_heads": 3, "d_ff": 512}, {"batch_tokens": 896, "learning_rate": 3e-3})),
    (float("inf"), Sizes({"d_model": 256, "n_heads": 4, "d_ff": 704}, {"batch_tokens": 1792, "learning_rate": 2e-3})),
)
"""Sizes for runs of fewer target tokens than this: short runs learn more from more updates with smaller batches."""

REGULARISATION_BY_EPOCHS: tuple[tuple[float, float, float], ...] = (
    (3.0, 0.0, 0.0),
    (6.0, 0.1, 0.1),
    (float("inf"), 0.2, 0.1),
)
"""Dropout and label smoothing for runs of fewer epochs than this: models overfit only to repeated text."""


def adapt_translator(
    recipe: TranslatorRecipe,
    decided: AbstractSet[str],
    expect: Callable[[TranslatorRecipe], float],
    tokens_per_epoch: int,
) -> tuple[TranslatorRecipe, str]:
    """Choose the settings that are still open.

    Args:
        recipe: the recipe before adaptation.
        decided: settings by `section.field` that must not change.
        expect: estimates the target tokens that a run with a recipe will process here; larger sizes are slower.
        tokens_per_epoch: target tokens of the text.

    Returns:
        The recipe with the choices, and a line about them; empty if there are none.
    """
    tokens = expect(recipe)
    sizes = next(sizes for limit, sizes in SIZES_BY_TOKENS if tokens < limit)
    model: dict[str, object] = {}
    if not decided & {"model.d_model", "model.n_heads", "model.d_ff", "model.n_kv_heads"}:
        model |= sizes.model
        tokens = expect(recipe.model_copy(update={"model": recipe.model.model_copy(update=model)}))
    epochs = tokens / max(tokens_per_epoch, 1)
    dropout, smoothing = next(
        (dropout, smoothing) for limit, dropout, smoothing in REGULARISATION_BY_EPOCHS if epochs < limit
    )
    if "model.dropout" not in decided:
        model["dropout"] = dropout
    if recipe.training.minutes is None:  # with fixed steps, the batch size sets the tokens
        decided = decided | {"training.batch_tokens"}
    training: dict[str, object] = {k: v for k, v in sizes.training.items() if f"training.{k}" not in decided}
    if "training.label_smoothing" not in decided:
        training["label_smoothing"] = smoothing
    return apply_choices(recipe, model, training, f"{rounded(tokens)} target tokens, {rounded(epochs)} epochs")

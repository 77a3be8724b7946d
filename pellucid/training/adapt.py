"""Estimate how many tokens a run will process, and apply settings chosen from that estimate."""

from collections.abc import Mapping

from pellucid.training.config import TrainingConfig
from pellucid.training.recipe import AnyRecipe

__all__ = ["apply_choices", "expected_tokens", "rounded"]


def expected_tokens(training: TrainingConfig, seconds_gone: float, tokens_per_second: float) -> float:
    """Estimate the target tokens that a run will process: by its steps, or by its minutes and the measured speed."""
    by_steps = training.steps * training.batch_tokens if training.steps else float("inf")
    if training.minutes is None:
        return by_steps
    return min(by_steps, tokens_per_second * max(60 * training.minutes - seconds_gone, 0.0))


def apply_choices(
    recipe: AnyRecipe, model: Mapping[str, object], training: Mapping[str, object], amount: str
) -> tuple[AnyRecipe, str]:
    """Put chosen settings into a recipe.

    Args:
        model: chosen fields of `model.*`.
        training: chosen fields of `training.*`.
        amount: description of the expected amount of training, for the log.

    Returns:
        The recipe with the choices, marked as adapted, and a line about the choices; empty if there are none.
    """
    adapted = recipe.model_copy(
        update={
            "model": recipe.model.model_copy(update=dict(model)),
            "training": recipe.training.model_copy(update={**training, "adapt": False}),
        }
    )
    choices = ", ".join(f"{name} {value}" for name, value in {**model, **training}.items())
    return adapted, f"Expecting {amount}: {choices}" if choices else ""


def rounded(count: float) -> str:
    """Round a number for display: `1.4 M`, `30,000`, `2.0`, `0.007`."""
    if count >= 1e6:
        return f"{count / 1e6:,.1f} M"
    if count >= 100:
        return f"{float(f'{count:.2g}'):,.0f}"
    return f"{count:.1f}" if count >= 1 else f"{count:.1g}"

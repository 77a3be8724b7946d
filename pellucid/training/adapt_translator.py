"""Width, batches and regularisation by how much a run will see, where neither the user nor a recipe has said."""

import time
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import torch

from pellucid.training.recipe import Recipe, TranslatorRecipe

__all__ = [
    "REGULARISATION_BY_EPOCHS",
    "SIZES_BY_TOKENS",
    "Sizes",
    "adapt_translator",
    "estimate_tokens",
    "measure_matmul_rate",
    "round_for_display",
]


class Sizes(NamedTuple):
    """Sizes of the model (`model.*`), and the batches and learning rate of its training (`training.*`)."""

    model: dict[str, int]
    training: dict[str, float]


SIZES_BY_TOKENS: tuple[tuple[float, Sizes], ...] = (
    (4e6, Sizes({"d_model": 192, "n_heads": 3, "d_ff": 512}, {"batch_tokens": 896, "learning_rate": 3e-3})),
    (float("inf"), Sizes({"d_model": 256, "n_heads": 4, "d_ff": 704}, {"batch_tokens": 1792, "learning_rate": 2e-3})),
)
"""What runs get that see fewer target tokens than this: a short one learns more from more and smaller updates."""

REGULARISATION_BY_EPOCHS: tuple[tuple[float, float, float], ...] = (
    (3.0, 0.0, 0.0),
    (6.0, 0.1, 0.1),
    (float("inf"), 0.2, 0.1),
)
"""Dropout and label smoothing for runs that pass through the text fewer times than this: only repetition overfits."""

# What a target token takes of the time of a large matrix product, in its operations. Measured with the default recipe:
# 54 M at the first width on one core, 73 M on two, 89 M at the last width on two; on CUDA, where small batches reach
# far less, it has not been measured.
FLOP_PER_TOKEN = 70e6


def adapt_translator(
    recipe: TranslatorRecipe, given: AbstractSet[str], tokens: float, tokens_per_epoch: int
) -> tuple[TranslatorRecipe, list[str]]:
    """Return the recipe with its open settings chosen, and a line for each choice.

    Args:
        recipe: with `training.adapt`; else it comes back as it is.
        given: settings by `section.field` that are not open.
        tokens: target tokens that the run will see.
        tokens_a_pass: target tokens of the text.
    """
    if not recipe.training.adapt:
        return recipe, []
    rung = next(rung for limit, rung in SIZES_BY_TOKENS if tokens < limit)
    sizes_given = given & {"model.d_model", "model.n_heads", "model.d_ff", "model.n_kv_heads"}
    # A given number of steps promises so many tokens: only a given time lets the batch choose how many steps there are.
    settled = given | ({"training.batch_tokens"} if recipe.training.minutes is None else set())
    epochs = tokens / max(tokens_per_epoch, 1)
    dropout, smoothing = next(
        (dropout, smoothing) for limit, dropout, smoothing in REGULARISATION_BY_EPOCHS if epochs < limit
    )
    model: dict[str, object] = {} if sizes_given else dict(rung.model)
    if "model.dropout" not in given:
        model["dropout"] = dropout
    training: dict[str, object] = {"adapt": False}
    training |= {name: value for name, value in rung.training.items() if f"training.{name}" not in settled}
    if "training.label_smoothing" not in given:
        training["label_smoothing"] = smoothing
    chosen = recipe.model_copy(
        update={
            "model": recipe.model.model_copy(update=model),
            "training": recipe.training.model_copy(update=training),
        }
    )
    said = f"About {round_for_display(tokens)} target tokens, {round_for_display(epochs)} passes through the text: "
    values = [f"{name} {value}" for name, value in {**model, **training}.items() if name != "adapt"]
    return chosen, [said + ", ".join(values)] if values else []


def estimate_tokens(recipe: Recipe, seconds_gone: float, device: torch.device, dtype: torch.dtype) -> float:
    """Return how many target tokens a run will see: by its steps, or by its minutes and the speed of this machine."""
    training = recipe.training
    by_steps = training.steps * training.batch_tokens if training.steps else float("inf")
    if training.minutes is None:
        return by_steps
    seconds = max(60 * training.minutes - seconds_gone, 0.0)
    return min(by_steps, measure_matmul_rate(device, dtype) * seconds / FLOP_PER_TOKEN)


def round_for_display(count: float) -> str:
    """Return a number as one would say it: `1.4 M`, `30,000`, `2.0`, `0.007`."""
    if count >= 1e6:
        return f"{count / 1e6:,.1f} M"
    if count >= 100:
        return f"{float(f'{count:.2g}'):,.0f}"
    return f"{count:.1f}" if count >= 1 else f"{count:.1g}"


def measure_matmul_rate(device: torch.device, dtype: torch.dtype) -> float:
    """Return how many operations a second a large matrix product does here, all threads together."""
    size = 4096 if device.type == "cuda" else 768
    x = torch.randn(size, size, device=device).to(dtype)
    rates = []
    for _ in range(9):
        began = time.perf_counter()
        float((x @ x)[0, 0])  # waits for the device
        rates.append(2 * size**3 / (time.perf_counter() - began))
    return max(rates)  # the best: other programs on the machine only slow it down

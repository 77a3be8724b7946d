"""Estimate how many tokens a run will process, and apply settings chosen from that estimate."""

import time
from collections.abc import Mapping

import torch

from pellucid.training.config import TrainingConfig
from pellucid.training.precision import training_dtype
from pellucid.training.recipe import AnyRecipe

__all__ = ["apply_choices", "estimate_tokens", "measure_matmul_rate", "rounded"]

# Cost of one target token: the FLOPs that a large matrix product performs in the same time. Measured with the default
# recipe: 54 M at width 192 on one core, 73 M on two cores, and 89 M at width 256 on two cores. Not measured on CUDA,
# where small batches are far less efficient.
FLOP_PER_TOKEN = 70e6


def estimate_tokens(training: TrainingConfig, seconds_gone: float, device: torch.device) -> float:
    """Estimate the target tokens that a run will process: by its steps, or by its minutes and this machine's speed."""
    by_steps = training.steps * training.batch_tokens if training.steps else float("inf")
    if training.minutes is None:
        return by_steps
    seconds = max(60 * training.minutes - seconds_gone, 0.0)
    rate = measure_matmul_rate(device, training_dtype(training.precision, device))
    return min(by_steps, rate * seconds / FLOP_PER_TOKEN)


def measure_matmul_rate(device: torch.device, dtype: torch.dtype) -> float:
    """Measure the speed of a large matrix product with all threads, operations per second."""
    size = 4096 if device.type == "cuda" else 768
    x = torch.randn(size, size, device=device).to(dtype)
    rates = []
    for _ in range(9):
        began = time.perf_counter()
        float((x @ x)[0, 0])  # waits for the device
        rates.append(2 * size**3 / (time.perf_counter() - began))
    return max(rates)  # the best: other programs on the machine only slow it down


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

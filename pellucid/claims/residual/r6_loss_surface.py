"""R6: residual connections make the loss surface smooth."""

import torch
from torch import Tensor, nn

from pellucid.claims.ablations import without_residual
from pellucid.claims.claim import Effort, Setup, at_least, claim
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds, paired_difference
from pellucid.claims.small_models import torch_generator
from pellucid.claims.toy_tasks import associative_recall, loss_on, train_on_task

__all__ = ["CLAIM", "filter_normalized_direction", "measure", "roughness"]

_SIDE, _REACH = 9, 1.0


def filter_normalized_direction(model: nn.Module, random: torch.Generator) -> list[Tensor]:
    """Draw a random direction in weight space, each row with the norm of the weights' row.

    Source:
        Li et al. 2018, §4.
    """
    directions = []
    for weight in model.parameters():
        draw = torch.randn(weight.shape, generator=random)
        if weight.ndim > 1:
            draw = draw * weight.detach().norm(dim=1, keepdim=True) / draw.norm(dim=1, keepdim=True)
        else:
            draw = torch.zeros_like(draw)  # norms and biases stay, as in the source
        directions.append(draw)
    return directions


def _slice(model: nn.Module, seed: int) -> Tensor:
    """Compute the loss on a grid around the weights, [side side]."""
    batch, random = associative_recall(torch_generator(seed, "R6", "texts"), 200), torch_generator(seed, "R6")
    first, second = filter_normalized_direction(model, random), filter_normalized_direction(model, random)
    start = [weight.detach().clone() for weight in model.parameters()]
    steps = torch.linspace(-_REACH, _REACH, _SIDE)
    grid = torch.empty(_SIDE, _SIDE)
    with torch.no_grad():
        for i, a in enumerate(steps):
            for j, b in enumerate(steps):
                for weight, origin, one, other in zip(model.parameters(), start, first, second, strict=True):
                    weight.copy_(origin + a * one + b * other)
                grid[i, j] = loss_on(model, batch)
        for weight, origin in zip(model.parameters(), start, strict=True):
            weight.copy_(origin)
    return grid


def roughness(grid: Tensor) -> float:
    """Compute the mean absolute second difference of a surface, relative to its range: 0 for a plane."""
    bends = torch.cat([grid.diff(n=2, dim=dim).abs().flatten() for dim in (0, 1)])
    return float(bends.mean() / (grid.max() - grid.min()).clamp_min(1e-12))


def measure(setup: Setup) -> Evidence:
    """Train deep models with and without residual connections, and compare slices of the loss surface."""
    kinds = {"residual": lambda model: model, "no residual": without_residual}
    rough: dict[str, list[float]] = {kind: [] for kind in kinds}
    losses: dict[str, list[float]] = {kind: [] for kind in kinds}
    records = []
    for seed in setup.every_seed():
        for kind, change in kinds.items():
            model, curve = train_on_task(
                associative_recall,
                seed,
                setup.steps,
                change=change,
                positions="none",
                n_layers=setup.size,
                d_ff=32,
                learning_rate=1e-3,
            )
            grid = _slice(model, seed)
            rough[kind].append(roughness(grid))
            losses[kind].append(sum(curve[-10:]) / 10)
            if seed == setup.seed:
                records += [
                    {"first_direction": i, "second_direction": j, "loss": float(grid[i, j]), "network": kind}
                    for i in range(_SIDE)
                    for j in range(_SIDE)
                ]
    numbers = {
        "roughness_without_less_with": paired_difference(rough["no residual"], rough["residual"]),
        "roughness_with": mean_over_seeds(rough["residual"]),
        "roughness_without": mean_over_seeds(rough["no residual"]),
        "loss_reached_with": mean_over_seeds(losses["residual"]),
        "loss_reached_without": mean_over_seeds(losses["no residual"]),
    }
    return Evidence(numbers, records, Figure("heat", "first_direction", "second_direction", "loss", column="network"))


CLAIM = claim(
    measure,
    at_least("roughness_without_less_with", 0.02, fails_at=-0.02),
    effort=Effort(Setup(seeds=3, steps=40, size=4), Setup(seeds=6, steps=600, size=8)),
)

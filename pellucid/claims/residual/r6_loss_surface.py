"""R6: with residual sums the loss surface gets smooth."""

import torch
from torch import Tensor, nn

from pellucid.claims.ablations.no_residual import without_residual
from pellucid.claims.attention.a07_learning_to_match import marked
from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.evidence import Evidence, Figure, difference, mean_over_seeds
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.small_models import torch_generator
from pellucid.claims.texts import SEEDS
from pellucid.claims.toy_tasks import loss_on, train_on_task

__all__ = ["CLAIM", "filter_normalised", "measure", "roughness"]

_SIDE, _REACH = 9, 1.0


def filter_normalised(model: nn.Module, random: torch.Generator) -> list[Tensor]:
    """Return a random direction in the space of weights, each row as long as the weights' row.

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
    """Return the loss on a grid around the weights, [side side]."""
    batch, random = marked(torch_generator(seed, "R6", "texts"), 200), torch_generator(seed, "R6")
    first, second = filter_normalised(model, random), filter_normalised(model, random)
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
    """Return the mean absolute second difference of a surface, relative to its range: 0 for a plane."""
    bends = torch.cat([grid.diff(n=2, dim=dim).abs().flatten() for dim in (0, 1)])
    return float(bends.mean() / (grid.max() - grid.min()).clamp_min(1e-12))


def measure(budget: Budget, seed: int) -> Evidence:
    """Train deep readers with and without residual sums, and compare slices of the loss around their weights."""
    kinds = {"residual": lambda model: model, "no residual": without_residual}
    rough: dict[str, list[float]] = {kind: [] for kind in kinds}
    losses: dict[str, list[float]] = {kind: [] for kind in kinds}
    records = []
    for number in budget.every_seed(seed):
        for kind, change in kinds.items():
            model, curve = train_on_task(
                marked,
                number,
                budget.steps,
                change=change,
                positions="none",
                n_layers=budget.size,
                d_ff=32,
                learning_rate=1e-3,
            )
            grid = _slice(model, number)
            rough[kind].append(roughness(grid))
            losses[kind].append(sum(curve[-10:]) / 10)
            if number == seed:
                records += [
                    {"first_direction": i, "second_direction": j, "loss": float(grid[i, j]), "network": kind}
                    for i in range(_SIDE)
                    for j in range(_SIDE)
                ]
    titles = {
        "first_direction": Text("first direction", "第一方向"),
        "second_direction": Text("second direction", "第二方向"),
        "loss": Text("loss, nats", "损失（奈特）"),
        "network": Text("network", "网络"),
    }
    numbers = {
        "roughness_without_less_with": difference(rough["no residual"], rough["residual"]),
        "roughness_with": mean_over_seeds(rough["residual"]),
        "roughness_without": mean_over_seeds(rough["no residual"]),
        "loss_reached_with": mean_over_seeds(losses["residual"]),
        "loss_reached_without": mean_over_seeds(losses["no residual"]),
    }
    return Evidence(
        numbers, records, Figure("heat", "first_direction", "second_direction", "loss", titles, column="network")
    )


CLAIM = Claim(
    id="R6",
    statement=Text("With residual sums the loss surface gets smooth.", "残差相加使损失曲面变得平滑。"),
    equation="L(θ + a δ + b η),  δ, η filter-normalised",
    measured=Text(
        "deep readers (size: layers) trained alike with and without the sum: mean second difference of a 9 × 9 slice "
        "of the loss "
        "along two filter-normalised random directions, relative to the range of the slice",
        "深层模型（size 为层数）有残差与无残差同样训练：沿两个滤波器归一化随机方向取 9×9 损失切片，其平均二阶差分与起"
        "伏范围之比",
    ),
    rule=Rule((at_least("roughness_without_less_with", 0.02, SEEDS, fails_at=-0.02),)),
    reading=Text(
        "Li et al. (2018) showed it for convolutional networks with a thousand times as many weights; a "
        "two-dimensional slice of so "
        "many dimensions shows what it happens to cut. In a network that has not trained at all the surface may look "
        "smooth because it "
        "is flat: so the losses reached stand beside. With norms before each part, much of the smoothing is theirs "
        "(Santurkar et al. 2018).",
        "Li 等（2018）在权重多千倍的卷积网络上展示了这一点；如此多维中的二维切片只显示它恰好切到的东西。完全没训动的网"
        "络曲面可能因为平坦而显得平滑，"
        "所以旁边列出所达损失。若每部分之前有归一化，平滑作用有很大一份属于它（Santurkar 等 2018）。",
    ),
    sources=(
        "Li et al. 2018, Visualizing the Loss Landscape of Neural Nets",
        "Santurkar et al. 2018, How Does Batch Normalization Help Optimization?",
    ),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=40, size=4), Budget(seeds=6, steps=600, size=8)),
)

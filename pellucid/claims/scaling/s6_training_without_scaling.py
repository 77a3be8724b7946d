"""S6: without scaling training fails."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import nn

from pellucid.claims.ablations.unscaled import without_scaling
from pellucid.claims.attention.a07_learning_to_match import marked
from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.toy_tasks import accuracy, train_on_task
from pellucid.claims.toy_training import Optimizer, by_adamw

__all__ = ["CLAIM", "by_sgd", "measure"]

_WIDTHS = (16, 256)
_KINDS: dict[str, Callable[[nn.Module], nn.Module]] = {"scaled": lambda model: model, "not scaled": without_scaling}


def by_sgd(model: nn.Module, learning_rate: float) -> torch.optim.Optimizer:
    """Return stochastic gradient descent with momentum 0.9, which steps as far as the gradient is long."""
    return torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9)


_WAYS: dict[str, tuple[Optimizer, tuple[float, float]]] = {
    "AdamW": (by_adamw, (1e-3, 5e-3)),
    "SGD": (by_sgd, (0.1, 0.3)),
}


class Setting(NamedTuple):
    """What is trained: optimizer, width of the head, learning rate, scores."""

    way: str
    width: int
    rate: float
    kind: str


def _accuracies(budget: Budget, seed: int) -> dict[Setting, list[float]]:
    found = {}
    for way, (optimizer, rates) in _WAYS.items():
        for setting in (Setting(way, width, rate, kind) for width in _WIDTHS for rate in rates for kind in _KINDS):
            readers = (
                train_on_task(
                    marked, number, budget.steps, change=_KINDS[setting.kind], learning_rate=setting.rate,
                    optimizer=optimizer, positions="none", d_model=setting.width, d_ff=2 * setting.width, n_heads=1,
                )[0]
                for number in budget.every_seed(seed)
            )  # fmt: skip
            found[setting] = [
                accuracy(reader, marked, number, texts=500)
                for reader, number in zip(readers, budget.every_seed(seed), strict=True)
            ]
    return found


def measure(budget: Budget, seed: int) -> Evidence:
    """Train one-head readers of two widths with and without the scaling, by two optimizers at two learning rates."""
    found = _accuracies(budget, seed)
    records = []
    for (way, width, rate, kind), values in found.items():
        mean = mean_over_seeds(values)
        records.append({"d_k": str(width), "scores": kind, "optimizer": f"{way}, {rate:g}", **mean.columns("accuracy")})

    def lost(way: str, width: int, kept: bool) -> list[float]:
        """Return, by seed, what is lost: at the rate that suits scaled scores, or at the better one for either."""
        rates = {
            kind: max(_WAYS[way][1], key=lambda rate: sum(found[Setting(way, width, rate, kind)])) for kind in _KINDS
        }
        other = rates["scaled" if kept else "not scaled"]
        best, without = (
            found[Setting(way, width, rates["scaled"], "scaled")],
            found[Setting(way, width, other, "not scaled")],
        )
        return [a - b for a, b in zip(best, without, strict=True)]

    titles = {
        "d_k": Text("width of the head", "头的宽度"),
        "accuracy": Text("accuracy", "准确率"),
        "scores": Text("scores", "分数"),
        "optimizer": Text("optimizer, learning rate", "优化器与学习率"),
    }
    narrow, wide = (lost("SGD", width, kept=True) for width in _WIDTHS)
    numbers = {
        "lost_by_sgd_at_the_kept_rate": mean_over_seeds((a + b) / 2 for a, b in zip(narrow, wide, strict=True)),
        "lost_by_adamw_d_256": mean_over_seeds(lost("AdamW", 256, kept=False)),
        "lost_by_adamw_d_16": mean_over_seeds(lost("AdamW", 16, kept=False)),
        **{f"lost_by_sgd_d_{width}": mean_over_seeds(lost("SGD", width, kept=False)) for width in _WIDTHS},
    }
    return Evidence(numbers, records, Figure("bar", "d_k", "accuracy", "scores", titles, column="optimizer"))


_FAILS = Text(
    "a fifth of the answers lost is failing; less than a twentieth is not",
    "少对五分之一算失败；少于二十分之一则不算",
)

CLAIM = Claim(
    id="S6",
    statement=Text("Without the scaling, training fails.", "没有缩放，训练就会失败。"),
    equation="softmax(Q Kᵀ) instead of softmax(Q Kᵀ / √d_k)",
    measured=Text(
        "associative recall by one head of 16 and of 256 numbers: accuracy lost without the scaling, by plain gradient "
        "descent (momentum 0.9) at that of its rates 0.1 and 0.3 which suits scaled scores, both widths together; by "
        "AdamW at the better of 1e-3 and 5e-3 for either kind of score",
        "单头（宽 16 与 256）联想回忆：不缩放少对多少。朴素梯度下降（动量 0.9）取学习率 0.1 与 0.3 中适合缩放分数的一个"
        "，两种宽度合计；AdamW 对两种分数各取 1e-3 与 5e-3 中较好的一个",
    ),
    rule=Rule(
        holds=(at_least("lost_by_sgd_at_the_kept_rate", 0.2, _FAILS, fails_at=0.05),),
        beyond=(at_least("lost_by_adamw_d_256", 0.2, _FAILS, fails_at=0.05),),
        condition=Text(
            "plain gradient descent, all else left as it was; AdamW, which sets each weight's step by its own "
            "gradients, makes up for it",
            "朴素梯度下降，且其余一切照旧；AdamW 按每个权重自己的梯度定步长，可以弥补",
        ),
        instead=Text(
            "at these sizes the optimizer makes up for it: the weights start smaller or shrink; scaling matters for "
            "stability at large widths and rates",
            "在这些规模上优化器可以弥补：权重从较小处开始或自行缩小；缩放主要关乎大宽度与大学习率下的稳定性",
        ),
    ),
    reading=Text(
        "A constant factor can be undone by weights that are smaller by its root, so nothing is lost in what can be "
        "expressed, only in where training starts and how large its steps are. After so few "
        "steps the wide heads have not learnt the task from every start even with the scaling, hence the wide "
        "intervals. Vaswani et al. report that additive "
        "attention "
        "beat the unscaled product for large d_k; T5 (Raffel et al. 2020) has no scaling and puts it into its first "
        "weights.",
        "常数因子可被小其平方根倍的权重抵消，所以表达能力毫无损失，只影响训练从何处开始、步子有多大。这么少的步数，"
        "宽头即使有缩放也并非从每个起点都学得会，所以区间很宽。Vaswani 等报告在 "
        "d_k 较大时加性注意力优于不缩放的点积；"
        "T5（Raffel 等 2020）没有缩放，而把它放进初始权重里。",
    ),
    sources=("Vaswani et al. 2017, §3.2.1", "Raffel et al. 2020, T5"),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=20), Budget(seeds=4, steps=400)),
)

"""S5: unscaled scores kill the gradient."""

import torch
from torch import Tensor

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Estimate, Evidence, Figure, mean_over_seeds
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.scaling.s1_variance_grows import scores
from pellucid.claims.scaling.s3_softmax_derivative import formula
from pellucid.claims.small_models import torch_generator

__all__ = ["CLAIM", "measure"]

_WIDTHS = (4, 16, 64, 256, 1024)
_KEYS, _ROWS, _DRAWS = 16, 100, 8


def _jacobian_norm(z: Tensor) -> float:
    """Return the mean norm of the softmax's derivative over rows of scores."""
    return sum(float(formula(row.softmax(0)).norm()) for row in z) / len(z)


def measure(seed: int, exponent: float = 0.5) -> Evidence:
    """Measure the norm of the softmax's derivative by width, with scores as attention has them and multiplied back.

    Args:
        exponent: of d_k in the factor that takes the scaling back; 0 leaves it as it is.
    """
    norms: dict[tuple[str, int], list[float]] = {}
    for draw in range(_DRAWS):
        for d in _WIDTHS:
            random = torch_generator(seed, "S5", draw, d)
            z = scores(torch.randn(_ROWS, d, generator=random), torch.randn(_KEYS, d, generator=random))
            norms.setdefault(("scaled", d), []).append(_jacobian_norm(z))
            norms.setdefault(("not scaled", d), []).append(_jacobian_norm(z * d**exponent))
    records = []
    for (name, d), values in norms.items():
        mean = mean_over_seeds(values)
        records.append({"d_k": d, "scores": name, "norm": mean.value, "low": max(mean.low, 1e-9), "high": mean.high})

    def kept(name: str) -> Estimate:
        first, last = norms[name, _WIDTHS[0]], norms[name, _WIDTHS[-1]]
        return mean_over_seeds(b / a for a, b in zip(first, last, strict=True))

    titles = {
        "d_k": Text("numbers of a vector, d_k", "向量维数 d_k"),
        "norm": Text("mean norm of the Jacobian", "雅可比矩阵的平均范数"),
        "scores": Text("scores", "分数"),
    }
    numbers = {"left_at_1024_scaled": kept("scaled"), "left_at_1024_not_scaled": kept("not scaled")}
    return Evidence(numbers, records, Figure("line", "d_k", "norm", "scores", titles, log_x=True, log_y=True))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


CLAIM = Claim(
    id="S5",
    statement=Text("Unscaled scores kill the softmax's gradient.", "不缩放的分数会扼杀 softmax 的梯度。"),
    equation="‖∂S/∂Z‖ → 0 as Var(Z) → ∞",
    measured=Text(
        "mean norm of the softmax's Jacobian over 16 keys, d_k from 4 to 1,024, eight draws: what is left of it at "
        "1,024 of "
        "what there is at 4, scaled and not",
        "16 个键的 softmax 雅可比矩阵平均范数，d_k 从 4 到 1024，八次抽样：1024 处还剩 4 处的几分之几，分缩放与不缩放",
    ),
    rule=Rule(
        (
            at_most(
                "left_at_1024_not_scaled",
                0.5,
                Text("at least half must be lost, or nothing is killed", "至少要失去一半，否则谈不上扼杀"),
            ),
            at_least(
                "left_at_1024_scaled",
                0.8,
                Text(
                    "with the scaling it must stay, or the width alone did it", "缩放后必须保住，否则就是宽度本身所致"
                ),
            ),
        )
    ),
    reading=Text(
        "On average over random scores the loss is a matter of degree: most rows are saturated, and a few, in which "
        "two "
        "keys happen to lie close together, carry what gradient there is. “Kill” is true of a row, “thin out” of a "
        "layer. "
        "Whether training fails of it is another question (S6).",
        "对随机分数取平均，损失是程度问题：多数行已饱和，少数恰有两个键相近的行承载着剩下的梯度。对一行可说“扼杀”，"
        "对一层只能说“稀薄”。"
        "训练是否因此失败是另一个问题（S6）。",
    ),
    sources=("Vaswani et al. 2017, §3.2.1",),
    run=_run,
)

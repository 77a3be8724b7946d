"""R1: what a hundred layers make of a factor."""

import torch

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_most

__all__ = ["CLAIM", "measure"]

_TOLD = {0.9: 0.000026, 1.1: 13_780.0}


def measure(layers: int = 100) -> Evidence:
    """Send a gradient down through layers that each multiply by a factor, and compare it with the figures told."""
    records, arrived, off = [], {}, {}
    for factor, told in _TOLD.items():
        x = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
        y = x
        for layer in range(1, layers + 1):
            y = y * factor
            if layer % 5 == 0:
                (gradient,) = torch.autograd.grad(y, x, retain_graph=True)
                records.append({"layers": layer, "factor": str(factor), "gradient": float(gradient)})
        arrived[factor] = float(gradient)
        off[factor] = abs(arrived[factor] - told) / told
    titles = {
        "layers": Text("layers", "层数"),
        "gradient": Text("gradient at the bottom", "底层梯度"),
        "factor": Text("factor", "因子"),
    }
    numbers = exact_values(
        shrinking=arrived[0.9], growing=arrived[1.1],
        shrinking_off_the_figure=off[0.9], growing_off_the_figure=off[1.1],
    )  # fmt: skip
    return Evidence(numbers, records, Figure("line", "layers", "gradient", "factor", titles, log_y=True))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure()


_RIGHT = Text(
    "the figure has two to four digits and illustrates an order of magnitude: right to 3 % is asked for",
    "数字只有两到四位，用来说明数量级：要求精确到 3 %",
)

CLAIM = Claim(
    id="R1",
    statement=Text("0.9¹⁰⁰ ≈ 0.000026 and 1.1¹⁰⁰ ≈ 13780.", "0.9¹⁰⁰ ≈ 0.000026，1.1¹⁰⁰ ≈ 13780。"),
    equation="∂y/∂x = Π f′ = f^100",
    measured=Text(
        "the gradient through a hundred layers that multiply by 0.9 or 1.1, by automatic differentiation",
        "经过一百层、每层乘 0.9 或 1.1 的梯度，由自动微分求得",
    ),
    rule=Rule((at_most("shrinking_off_the_figure", 0.03, _RIGHT), at_most("growing_off_the_figure", 0.03, _RIGHT))),
    reading=Text(
        "2.656·10⁻⁵ is cut, not rounded, in the usual figure. The lesson stands: what is multiplied layer by layer "
        "vanishes or explodes (Hochreiter 1991). Real layers multiply by matrices, whose product has directions "
        "that do "
        "either; orthogonal first weights keep all of them at 1 in a linear network (Saxe et al. 2014).",
        "通常的数字是截断而非舍入：应为 2.656·10⁻⁵。道理不变：逐层相乘之物不是消失就是爆炸（Hochreiter 1991）。真实"
        "的层乘的是矩阵，"
        "其乘积在不同方向上两者兼有；在线性网络中，正交初始权重能让所有方向都保持 1（Saxe 等 2014）。",
    ),
    sources=("Hochreiter 1991", "Saxe et al. 2014, Exact Solutions to the Nonlinear Dynamics of Learning"),
    run=_run,
)

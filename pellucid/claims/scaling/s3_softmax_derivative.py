"""S3: the derivative of the softmax."""

from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_most
from pellucid.claims.small_models import torch_generator

__all__ = ["CLAIM", "formula", "measure"]

_STEP = 1e-6


def formula(shares: Tensor) -> Tensor:
    """Return S_i (δ_ij − S_j), [i j]."""
    return torch.diag(shares) - torch.outer(shares, shares)


def measure(seed: int, derivative: Callable[[Tensor], Tensor] = formula) -> Evidence:
    """Compare the formula with automatic differentiation and with finite differences, for twenty sets of scores."""
    random, off, off_finite = torch_generator(seed, "S3"), 0.0, 0.0
    for _ in range(20):
        scores = 2 * torch.randn(6, generator=random, dtype=torch.float64)
        written = derivative(scores.softmax(0))
        automatic = torch.autograd.functional.jacobian(lambda z: z.softmax(0), scores)
        steps = _STEP * torch.eye(6, dtype=torch.float64)
        finite = ((scores + steps).softmax(1) - (scores - steps).softmax(1)).T / (2 * _STEP)
        off = max(off, float((written - automatic).abs().max()))
        off_finite = max(off_finite, float((written - finite).abs().max()))
    records = [{"score": j + 1, "share": i + 1, "derivative": float(written[i, j])} for i in range(6) for j in range(6)]
    titles = {
        "score": Text("score Z_j", "分数 Z_j"),
        "share": Text("share S_i", "份额 S_i"),
        "derivative": Text("∂S_i/∂Z_j", "∂S_i/∂Z_j"),
    }
    numbers = exact_values(difference_from_autograd=off, difference_from_finite_differences=off_finite)
    return Evidence(numbers, records, Figure("heat", "score", "share", "derivative", titles))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


CLAIM = Claim(
    id="S3",
    statement=Text("The derivative of the softmax is S_i (δ_ij − S_j).", "softmax 的导数是 S_i(δ_ij − S_j)。"),
    equation="∂S_i/∂Z_j = S_i (δ_ij − S_j)",
    measured=Text(
        "twenty sets of six scores in float64: the formula against automatic differentiation and finite differences",
        "二十组、每组六个分数（float64）：公式对照自动微分与有限差分",
    ),
    rule=Rule(
        (
            at_most("difference_from_autograd", 1e-12, Text("the same sums in float64", "float64 中同样的和")),
            at_most(
                "difference_from_finite_differences",
                1e-8,
                Text("central differences at 1e-6 are right to 1e-10", "步长 1e-6 的中心差分精确到 1e-10"),
            ),
        )
    ),
    reading=Text(
        "The diagonal is S(1 − S), the rest −S_i S_j: each row sums to 0, for shares that sum to 1 can only be "
        "moved about. "
        "All entries vanish where one share is 1: a sure softmax passes no gradient, which is what the scaling is to "
        "prevent (S5). A loss of −ln S removes the factor again, so that the last softmax of a model does not suffer.",
        "对角线是 S(1−S)，其余是 −S_iS_j：每行之和为 0，因为总和为 1 的份额只能挪来挪去。若某一份额为 1，所有项都消"
        "失："
        "十分确定的 softmax 不传梯度，这正是缩放要防止的（S5）。损失取 −ln S 会把这个因子约掉，所以模型最后的 "
        "softmax 不受其害。",
    ),
    sources=("Bridle 1990, Probabilistic Interpretation of Feedforward Classification Network Outputs",),
    run=_run,
)

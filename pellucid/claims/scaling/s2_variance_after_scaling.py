"""S2: dividing by √d_k brings the variance back to 1."""

from collections.abc import Callable

from torch import Tensor

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.scaling.s1_variance_grows import WIDTHS, paired, spread

__all__ = ["CLAIM", "measure"]


def measure(seed: int, score: Callable[[Tensor, Tensor], Tensor] = paired) -> Evidence:
    """Measure the variance of the scores as attention has them, for widths from 1 to 1,024."""
    variances = spread(seed, "S2", score)
    records = [{"d_k": d, **v.columns("variance")} for v, d in zip(variances, WIDTHS, strict=True)]
    titles = {
        "d_k": Text("numbers of a vector, d_k", "向量维数 d_k"),
        "variance": Text("variance of a score", "分数的方差"),
    }
    numbers = {
        "least_variance": min(variances, key=lambda variance: variance.value),
        "largest_variance": max(variances, key=lambda variance: variance.value),
    }
    return Evidence(numbers, records, Figure("line", "d_k", "variance", None, titles, log_x=True))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


_NEAR = Text(
    "2,000 independent scores a draw, ten draws: chance keeps the variance within 5 %; 0.85 and 1.15 leave no room "
    "for another law",
    "每次 2000 个独立的分数、共十次：偶然波动在 5 % 以内；0.85 与 1.15 之间容不下别的规律",
)

CLAIM = Claim(
    id="S2",
    statement=Text("Dividing by √d_k brings the variance of the scores back to 1.", "除以 √d_k 使分数的方差回到 1。"),
    equation="Var(q·k / √d_k) = 1",
    measured=Text(
        "20,000 scores of the library's attention, each of a query and a key of its own, for each of eleven widths "
        "from 1 to 1,024",
        "从 1 到 1024 的十一种维数，各取本库注意力的 2 万个分数，每个各有自己的查询与键",
    ),
    rule=Rule((at_least("least_variance", 0.85, _NEAR), at_most("largest_variance", 1.15, _NEAR))),
    reading=Text(
        "The factor makes the start of training the same for every width. It fixes the scale at one point only: "
        "nothing "
        "keeps learnt scores at variance 1, and heads that have become sure have scores of ten and more. "
        "Normalising queries "
        "and keys (Henry et al. 2020; Qwen3) keeps them bounded throughout.",
        "这个因子使各种宽度在训练起点上一致。它只在起点定标：没有什么把学到的分数维持在方差 1，变得有把握的头分数可"
        "达十以上。"
        "对查询和键做归一化（Henry 等 2020；Qwen3）则自始至终有界。",
    ),
    sources=("Vaswani et al. 2017, §3.2.1", "Henry et al. 2020, Query-Key Normalization for Transformers"),
    run=_run,
)

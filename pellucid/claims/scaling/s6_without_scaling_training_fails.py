"""S6: without scaling training fails."""

from pellucid.claims.attention.a07_gradients_make_the_match import marked
from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.evidence import Evidence, Figure, over_seeds
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.tasks import accuracy, train_reader
from pellucid.claims.texts import SEEDS
from pellucid.claims.variations.unscaled import without_scaling

__all__ = ["CLAIM", "measure"]

_WIDTHS = (16, 256, 64)  # the last only in the whole lab


def measure(budget: Budget, seed: int) -> Evidence:
    """Train one-head readers of several widths with and without the scaling, at two learning rates."""
    kinds = {"scaled": lambda model: model, "not scaled": without_scaling}
    found: dict[tuple[str, int, float], list[float]] = {}
    widths = sorted(_WIDTHS[: budget.size])
    for width in widths:
        for rate in (1e-3, 5e-3):
            for number in budget.every_seed(seed):
                for kind, change in kinds.items():
                    model, _ = train_reader(
                        marked, number, budget.steps, change=change, learning_rate=rate, positions="none",
                        d_model=width, d_ff=2 * width, n_heads=1,
                    )  # fmt: skip
                    found.setdefault((kind, width, rate), []).append(accuracy(model, marked, number, texts=500))
    records = []
    for (kind, width, rate), values in found.items():
        mean = over_seeds(values)
        records.append(
            {
                "d_k": str(width),
                "scores": kind,
                "learning_rate": rate,
                "accuracy": mean.value,
                "low": mean.low,
                "high": mean.high,
            }
        )

    def lost(width: int) -> list[float]:
        """Return, by seed, what the best learning rate loses without the scaling."""
        best = {
            kind: [max(pair) for pair in zip(*(found[kind, width, rate] for rate in (1e-3, 5e-3)), strict=True)]
            for kind in kinds
        }
        return [a - b for a, b in zip(best["scaled"], best["not scaled"], strict=True)]

    titles = {
        "d_k": Text("width of the head", "头的宽度"),
        "accuracy": Text("accuracy", "准确率"),
        "scores": Text("scores", "分数"),
        "learning_rate": Text("learning rate", "学习率"),
    }
    numbers = {f"lost_without_scaling_d_{width}": over_seeds(lost(width)) for width in widths}
    return Evidence(numbers, records, Figure("bar", "d_k", "accuracy", "scores", titles, column="learning_rate"))


_FAILS = Text(
    "a fifth of the answers lost at the better of two learning rates is failing; less than a twentieth is not",
    "在两种学习率中取较好者仍少对五分之一，算失败；少于二十分之一则不算",
)

CLAIM = Claim(
    id="S6",
    statement=Text("Without the scaling, training fails.", "没有缩放，训练就会失败。"),
    equation="softmax(Q Kᵀ) instead of softmax(Q Kᵀ / √d_k)",
    measured=Text(
        "associative recall by one head of 16, 64 and 256 numbers, learning rates 1e-3 and 5e-3: accuracy lost "
        "without the scaling at the better learning rate (size: how many of the widths)",
        "单头（宽 16、64、256）联想回忆，学习率 1e-3 与 5e-3：取较好学习率时，不缩放少对多少（size 为其中几种宽度）",
    ),
    rule=Rule(
        holds=(at_least("lost_without_scaling_d_256", 0.2, _FAILS, fails_at=0.05),),
        beyond=(at_least("lost_without_scaling_d_16", 0.2, SEEDS, fails_at=0.05),),
        condition=Text("heads are wide: narrow ones learn as well without", "头足够宽：窄头不缩放也学得一样好"),
        instead=Text(
            "at these sizes the optimizer makes up for it: the weights start smaller or shrink; scaling matters for "
            "stability "
            "at large widths and rates",
            "在这些规模上优化器可以弥补：权重从较小处开始或自行缩小；缩放主要关乎大宽度与大学习率下的稳定性",
        ),
    ),
    reading=Text(
        "A constant factor can be undone by weights that are smaller by its root, so nothing is lost in what can be "
        "expressed, only in where training starts and how large its steps are. Vaswani et al. report that additive "
        "attention "
        "beat the unscaled product for large d_k; T5 (Raffel et al. 2020) has no scaling and puts it into its first "
        "weights.",
        "常数因子可被小其平方根倍的权重抵消，所以表达能力毫无损失，只影响训练从何处开始、步子有多大。Vaswani 等报告在 "
        "d_k 较大时加性注意力优于不缩放的点积；"
        "T5（Raffel 等 2020）没有缩放，而把它放进初始权重里。",
    ),
    sources=("Vaswani et al. 2017, §3.2.1", "Raffel et al. 2020, T5"),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=40, size=2), Budget(seeds=3, steps=400, size=3)),
)

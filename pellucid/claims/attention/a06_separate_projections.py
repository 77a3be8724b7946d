"""A6: separate projections are needed."""

from pellucid.claims.ablations.tied_projections import tie_queries_and_keys
from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.evidence import Evidence, Figure, difference, mean_over_seeds
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.texts import SEEDS
from pellucid.claims.toy_tasks import accuracy, successors, train_on_task

__all__ = ["CLAIM", "measure"]


def measure(budget: Budget, seed: int) -> Evidence:
    """Train a reader of one layer and one head on a directed task, with two matrices and with one."""
    kinds = {"W_Q and W_K": lambda model: model, "W_Q = W_K": tie_queries_and_keys}
    found: dict[str, list[float]] = {kind: [] for kind in kinds}
    records = []
    for number in budget.every_seed(seed):
        for kind, change in kinds.items():
            model, _ = train_on_task(
                successors, number, budget.steps, change=change, n_heads=1, positions="none", batch=128
            )
            found[kind].append(accuracy(model, successors, number))
            records.append({"projections": kind, "seed": str(number), "accuracy": found[kind][-1]})
    titles = {
        "projections": Text("projections", "投影"),
        "accuracy": Text("accuracy", "准确率"),
        "seed": Text("seed", "种子"),
    }
    separate, tied = found.values()
    numbers = {
        "accuracy_separate": mean_over_seeds(separate),
        "accuracy_tied": mean_over_seeds(tied),
        "advantage_of_separate": difference(separate, tied),
    }
    return Evidence(numbers, records, Figure("bar", "projections", "accuracy", "seed", titles))


CLAIM = Claim(
    id="A6",
    statement=Text("Separate projections for queries and keys are needed.", "查询与键需要各自的投影。"),
    equation="S = X W_Q W_Kᵀ Xᵀ ≠ Sᵀ",
    measured=Text(
        "each of six tokens must name the mark of its successor (1 → 2 → … → 8 → 1), which does not look back: "
        "accuracy of a "
        "one-head layer with W_Q and W_K and with one matrix for both",
        "六个词元各自要说出其后继（1→2→…→8→1）所带的标记，而后继并不回看：单头一层模型分用 W_Q、W_K 与共用一个矩阵时的"
        "准确率",
    ),
    rule=Rule(
        (
            at_least(
                "advantage_of_separate",
                0.1,
                Text("a tenth of all answers, over all of the interval", "整个区间都要多对十分之一"),
                fails_at=0.02,
            ),
            at_least("accuracy_separate", 0.6, SEEDS, fails_at=0.4),
        )
    ),
    reading=Text(
        "With one matrix the scores before the softmax are symmetric: if I look at my successor, it looks as much at "
        "me, so "
        "each token mixes its successor's mark with its predecessor's. What is tied can still do much that has no "
        "direction: "
        "Reformer (Kitaev et al. 2020) shares queries and keys at little loss in language modelling, where the causal "
        "mask "
        "gives the direction.",
        "共用一个矩阵时，softmax 之前的分数是对称的：我看后继，后继也同样看我，于是每个词元把后继与前驱的标记混在一起。"
        "共用并非一无是处，无方向的事仍做得来：Reformer（Kitaev 等 2020）在语言建模中共享查询与键，损失甚微，因为因果"
        "掩码已给出方向。",
    ),
    sources=("Vaswani et al. 2017, §3.2", "Kitaev et al. 2020, Reformer"),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=150), Budget(seeds=5, steps=1_000)),
)

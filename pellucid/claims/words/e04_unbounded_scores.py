"""E4: skip-gram raises the scores of context words without bound."""

import math

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_least
from pellucid.demo.micro_world import micro_training

__all__ = ["CLAIM", "measure"]

_STEPS = (2_000, 8_000)
_NEVER_ITSELF = ((0, 1), (0, 2))  # 猫 stands beside 吃 and 鱼 equally often, and never beside itself
_ALL_OCCUR = ((0, 1), (0, 2), (0, 0))


def measure(seed: int, separable: tuple[tuple[int, int], ...] = _NEVER_ITSELF) -> Evidence:
    """Train skip-gram and follow the scores around 猫: of its two contexts, and of itself."""
    records = []
    ends: dict[str, list[dict[str, float]]] = {}
    for name, sentences in (("one word never occurs", separable), ("every word occurs", _ALL_OCCUR)):
        for step in micro_training("skip-gram", _STEPS[1], rate=0.1, seed=seed, sentences=sentences):
            if step.step not in _STEPS and step.step % 500:
                continue
            of_cat = step.w_in[0] @ step.w_out
            gap, between = float(of_cat[1:].mean() - of_cat[0]), float(abs(of_cat[1] - of_cat[2]))
            records += [
                {"step": step.step, "world": name, "pair": "context − 猫", "gap": gap},
                {"step": step.step, "world": name, "pair": "context − context", "gap": between},
            ]
            if step.step in _STEPS:
                shares = _softmax(of_cat.tolist())
                ends.setdefault(name, []).append({"gap": gap, "between": between, "share": shares[1]})
    (early, late), (bounded_early, bounded_late) = ends["one word never occurs"], ends["every word occurs"]
    titles = {
        "step": Text("updates", "更新次数"),
        "gap": Text("difference of scores", "分数之差"),
        "pair": Text("which scores", "哪两个分数"),
        "world": Text("text", "语料"),
    }
    numbers = exact_values(
        growth_of_gap=late["gap"] - early["gap"],
        growth_where_every_word_occurs=bounded_late["gap"] - bounded_early["gap"],
        gap_between_contexts=late["between"],
        probability_of_a_context=late["share"],
    )
    return Evidence(numbers, records, Figure("line", "step", "gap", "pair", titles, column="world"))


def _softmax(scores: list[float]) -> list[float]:
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / sum(powers) for power in powers]


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


_GROWS = Text(
    "four times the updates: growth as ln t would be 1.39; a third of that is still growth, none is none",
    "更新次数变为四倍：若按 ln t 增长应为 1.39；达到其三分之一仍算增长，没有就是没有",
)

CLAIM = Claim(
    id="E4",
    statement=Text(
        "Skip-gram raises the scores of all context words without bound.",
        "skip-gram 会无止境地抬高所有上下文词的分数。",
    ),
    equation="∂loss/∂u = softmax(u) − shares of the contexts",
    measured=Text(
        "猫 with two equally frequent contexts: the gap of their scores to a word that never occurs, after 2,000 and "
        "8,000 updates; and the same where every word occurs",
        "“猫”有两个频次相同的上下文：2000 次与 8000 次更新后，其分数与从不出现之词的差距；以及每个词都出现时的同样差距",
    ),
    rule=Rule(
        holds=(at_least("growth_of_gap", 0.46, _GROWS, fails_at=0.1),),
        beyond=(at_least("growth_where_every_word_occurs", 0.46, _GROWS, fails_at=0.1),),
        condition=Text(
            "some word never occurs beside the centre: the gap to its score grows without bound, while the two "
            "contexts' scores stay together at one half each; where every word occurs, all scores stay bounded",
            "有某个词从不与中心词同现：与它的差距无界增长，而两个上下文的分数相伴、概率各为二分之一；若每个词都出现"
            "，所有分数有界",
        ),
    ),
    reading=Text(
        "The softmax has its optimum where probabilities equal the shares in the text; a share of zero lies at minus "
        "infinity. So it is differences of scores that grow, as the logarithm of the updates, and only towards what "
        "never occurs. Negative sampling has no such run-away for words that are also drawn as noise: its optimum "
        "is the "
        "pointwise mutual information less ln k (Levy & Goldberg 2014).",
        "softmax 的最优点在概率等于语料份额之处；份额为零对应负无穷。所以增长的是分数之差，按更新次数的对数增长，而"
        "且只针对从不出现的词。"
        "负采样对也会被抽作噪声的词没有这种失控：其最优值是点互信息减 ln k（Levy 与 Goldberg 2014）。",
    ),
    sources=("Mikolov et al. 2013a", "Levy & Goldberg 2014, Neural Word Embedding as Implicit Matrix Factorization"),
    run=_run,
)

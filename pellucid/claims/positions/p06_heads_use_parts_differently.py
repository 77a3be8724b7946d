"""P6: a trained head uses the four parts differently."""

from itertools import combinations

import torch

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Evidence, Figure, difference, mean_over_seeds
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.texts import SEEDS
from pellucid.demo.language import DemoPair
from pellucid.inspection.score_decomposition import FOUR_PARTS, decompose_scores
from pellucid.translator import Translator

__all__ = ["CLAIM", "measure", "shares_of_variance"]


def shares_of_variance(translator: Translator, pairs: tuple[DemoPair, ...]) -> torch.Tensor:
    """Return each head's shares of the four parts in the variance of its scores over keys, [heads 4]."""
    total = torch.zeros(())
    for pair in pairs:
        look = translator.look(pair.source, target=pair.target)
        found = decompose_scores(look, "encoder.0.self_attention").parts
        parts = torch.stack([torch.from_numpy(found[part].values) for part in FOUR_PARTS])
        # What is the same for all keys of a query does not pass the softmax.
        total = total + parts.var(-1, unbiased=False).mean(-1)
    return (total / total.sum(0)).T


def _apart(shares: torch.Tensor) -> float:
    """Return the mean distance of two heads' shares: 0 alike, 1 nothing in common."""
    return float(torch.stack([(a - b).abs().sum() / 2 for a, b in combinations(shares, 2)]).mean())


def measure(budget: Budget, seed: int) -> Evidence:
    """Compare what share of its scores each head takes of which part, before training and after it."""
    before: list[float] = []
    after: list[float] = []
    records: list[dict[str, object]] = []
    for number in budget.every_seed(seed):
        for when, steps, values in (("before", 0, before), ("after", budget.steps, after)):
            trained = demo_translator(steps, number)
            shares = shares_of_variance(trained.translator, trained.data.test[:40])
            values.append(_apart(shares))
            if number == seed:
                records += [
                    {
                        "head": str(head), "part": part.replace("_", "–"), "share": float(shares[head, place]),
                        "training": when,
                    }
                    for head in range(len(shares))
                    for place, part in enumerate(FOUR_PARTS)
                ]  # fmt: skip
    titles = {
        "head": Text("head of layer 1", "第一层的头"),
        "share": Text("share of the variance", "方差份额"),
        "part": Text("part", "部分"),
        "training": Text("training", "训练"),
    }
    numbers = {
        "distance_of_heads_after": mean_over_seeds(after),
        "distance_of_heads_before": mean_over_seeds(before),
        "gain": difference(after, before),
    }
    return Evidence(numbers, records, Figure("bar", "head", "share", "part", titles, column="training"))


CLAIM = Claim(
    id="P6",
    statement=Text(
        "A trained head uses the four parts of its score differently from other heads.",
        "训练后的各个头对分数四项的用法各不相同。",
    ),
    equation="Var_keys(CC) : Var(CP) : Var(PC) : Var(PP), by head",
    measured=Text(
        "share of each part in the variance of the scores over keys, by head of the encoder's first layer, before and "
        "after "
        "training on the demo language; mean distance of two heads' shares",
        "编码器第一层每个头的四项在分数（对键）方差中的份额，演示语言训练前后；以及两头份额之间的平均距离",
    ),
    rule=Rule(
        (at_least("gain", 0.05, SEEDS, fails_at=0.0), at_least("distance_of_heads_after", 0.1, SEEDS, fails_at=0.05))
    ),
    reading=Text(
        "Some heads live by position and look one word back whatever stands there, others by content; such heads are "
        "found in trained translators throughout (Voita et al. 2019). The cross terms are of little use to most: TUPE "
        "(Ke et al. 2021) drops them at no loss. Fresh heads differ as well, by the chance of their weights; only "
        "what training adds to that counts here. The split exists in the first layer only, for later streams are no "
        "sums of content and position.",
        "有的头靠位置，无论前面是什么都看前一个词；有的靠内容：训练好的翻译器里处处可见这样的头（Voita 等 2019）。交叉"
        "项对多数头用处不大：TUPE（Ke 等 2021）去掉它们毫无损失。新头因权重偶然也各不相同，这里只算训练在此之上增加的"
        "部分。这种拆分只在第一层存在，因为之后的流不再是内容与位置之和。",
    ),
    sources=("Voita et al. 2019, Analyzing Multi-Head Self-Attention", "Ke et al. 2021"),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=150), Budget(seeds=6, steps=1_500)),
)

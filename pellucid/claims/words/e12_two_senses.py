"""E12: one vector cannot serve two senses."""

import torch

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Evidence, Figure, exact_values, mean_over_seeds
from pellucid.claims.occurrences import occurrences, sense_separation, single_token_occurrences, states_by_layer
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.texts import SEEDS

__all__ = ["CLAIM", "measure"]

# “Apples” may begin a sentence; the firm has no plural.
_SENSES = {"Apples": "the fruit", "Apple": "the firm", "apple": "the fruit"}
_MOST = 40  # occurrences of each sense


def measure(budget: Budget, seed: int) -> Evidence:
    """Compare the vectors of 苹果 in sentences about the fruit and about the firm, before and after the encoder."""
    static, gaps, nearest, records = [], [], [], []
    for number in budget.every_seed(seed):
        trained = demo_translator(budget.steps, number)
        pairs = [*trained.data.test, *trained.data.valid, *trained.data.train[-3_000:]]
        found = single_token_occurrences(trained.translator, occurrences(pairs, "苹果", _SENSES))
        chosen = [
            one
            for sense in dict.fromkeys(_SENSES.values())
            for one in [one for one in found if one.sense == sense][:_MOST]
        ]
        senses = [one.sense for one in chosen]
        states = states_by_layer(trained.translator, chosen)
        rows = torch.nn.functional.normalize(states[0], dim=1)
        static.append(float((rows @ rows.T).min()))
        for layer in range(1, len(states)):
            same, cross, right = sense_separation(states[layer], senses)
            records.append({"layer": layer, "seed": str(number), "gap": same - cross, "nearest_of_same_sense": right})
        gaps.append(same - cross)
        nearest.append(right)
    titles = {
        "layer": Text("encoder layer", "编码器层"),
        "gap": Text("cosine within a sense less across senses", "同义内余弦减跨义余弦"),
        "seed": Text("seed", "种子"),
    }
    numbers = {
        **exact_values(least_cosine_of_static_vectors=min(static)),
        "gap_of_senses": mean_over_seeds(gaps),
        "nearest_of_same_sense": mean_over_seeds(nearest),
    }
    return Evidence(numbers, records, Figure("line", "layer", "gap", "seed", titles))


CLAIM = Claim(
    id="E12",
    statement=Text(
        "One vector per word cannot serve 苹果 the firm and 苹果 the fruit; vectors in context tell them apart.",
        "一词一向量无法兼顾公司“苹果”与水果“苹果”；带上下文的向量能把两者分开。",
    ),
    equation="W[苹果] is one row;  encoder(x)[苹果] depends on x",
    measured=Text(
        "苹果 as a token of its own in up to 40 sentences of each sense: least cosine of its rows; of the trained "
        "encoder's last states, "
        "the gap of "
        "cosines within and across senses, and how often the nearest other occurrence has the same sense",
        "两种意义各至多 40 句中自成一个词元的“苹果”：其嵌入行之间的最小余弦；训练后编码器末层状态在同义内与跨义间的余"
        "弦差，以及最"
        "近的另一处出现与之同义的比例",
    ),
    rule=Rule(
        (
            at_least(
                "least_cosine_of_static_vectors",
                0.9999,
                Text("one row has cosine 1 with itself, to rounding", "同一行与自身的余弦为 1，仅差舍入"),
            ),
            at_least("gap_of_senses", 0.1, SEEDS, fails_at=0.02),
            at_least("nearest_of_same_sense", 0.8, Text("half would be chance", "偶然为一半"), fails_at=0.6),
        )
    ),
    reading=Text(
        "A static vector is a weighted mean of the senses; in a high dimension that is less of a loss than it sounds, "
        "as "
        "sparse mixtures can be taken apart again (Arora et al. 2018). In context each occurrence has its own vector, "
        "and "
        "senses form groups that nearest neighbours find (Peters et al. 2018; Wiedemann et al. 2019). Such vectors "
        "are all "
        "rather alike, though: cosines have to be compared after taking off their mean (Ethayarajh 2019).",
        "静态向量是各义的加权平均；在高维中损失没有听上去那么大，稀疏的混合还能再拆开（Arora 等 2018）。有了上下文，每"
        "次出现都有自己的向量，"
        "各义成群，近邻即可找到（Peters 等 2018；Wiedemann 等 2019）。不过这类向量彼此都偏像：余弦须减去均值后再比"
        "（Ethayarajh 2019）。",
    ),
    sources=(
        "Peters et al. 2018, ELMo",
        "Arora et al. 2018, Linear Algebraic Structure of Word Senses",
        "Ethayarajh 2019, How Contextual are Contextualized Word Representations?",
    ),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=150), Budget(seeds=6, steps=1_500)),
)

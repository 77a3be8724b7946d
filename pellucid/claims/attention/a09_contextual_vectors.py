"""A9: context changes a word's vector."""

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds
from pellucid.claims.occurrences import occurrences, sense_separation, single_token_occurrences, states_by_layer
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.texts import SEEDS

__all__ = ["CLAIM", "measure"]

_WORDS = {
    "苹果": {"Apples": "fruit", "Apple": "firm", "apple": "fruit"},
    "看": {"read": "read", "watch": "watch", "see": "see", "saw": "see", "look": "look"},
    "花": {"flower": "flower", "spen": "spend"},
}
_MOST = 30


def measure(budget: Budget, seed: int) -> Evidence:
    """Follow words of several senses through the encoder's layers, and compare cosines within senses and across."""
    first, last, records = [], [], []
    for number in budget.every_seed(seed):
        trained = demo_translator(budget.steps, number)
        pairs = [*trained.data.test, *trained.data.valid, *trained.data.train[-3_000:]]
        gaps: dict[int, list[float]] = {}
        for word, prefixes in _WORDS.items():
            found = single_token_occurrences(trained.translator, occurrences(pairs, word, prefixes))
            chosen = [
                one
                for sense in dict.fromkeys(prefixes.values())
                for one in [one for one in found if one.sense == sense][:_MOST]
            ]
            senses = [one.sense for one in chosen]
            if min((senses.count(sense) for sense in set(senses)), default=0) < 2 or len(set(senses)) < 2:
                continue
            for layer, states in enumerate(states_by_layer(trained.translator, chosen)):
                same, cross, _ = sense_separation(states, senses)
                gaps.setdefault(layer, []).append(same - cross)
                records.append({"layer": layer, "word": word, "gap": same - cross, "seed": number})
        means = [sum(values) / len(values) for _, values in sorted(gaps.items())]
        first.append(means[0])
        last.append(means[-1])
    titles = {
        "layer": Text("encoder layer (0: the embedding)", "编码器层（0 为嵌入）"),
        "gap": Text("cosine within senses less across", "同义内余弦减跨义余弦"),
        "word": Text("word", "词"),
    }
    numbers = {"gap_at_the_embedding": mean_over_seeds(first), "gap_at_the_last_layer": mean_over_seeds(last)}
    shown = [record for record in records if record["seed"] == seed]
    return Evidence(numbers, shown, Figure("line", "layer", "gap", "word", titles))


CLAIM = Claim(
    id="A9",
    statement=Text("Context changes a word's vector.", "上下文会改变一个词的向量。"),
    equation="x_l[i] = x_0[i] + Σ what layers 1…l add",
    measured=Text(
        "苹果, 看 and 花 as tokens of their own, in sentences where the true alignment tells their sense: cosine "
        "within senses less across, "
        "after each "
        "layer of a trained encoder (mean taken off)",
        "“苹果”“看”“花”自成一个词元的句子（意义由真实对齐给出）：训练后编码器每层之后，同义内余弦减跨义余弦（已减均值）",
    ),
    rule=Rule(
        (
            at_most(
                "gap_at_the_embedding",
                0.01,
                Text(
                    "a row is the same in all contexts, so there is no gap to see",
                    "同一行在任何上下文中都相同，看不出差别",
                ),
                fails_at=0.05,
            ),
            at_least("gap_at_the_last_layer", 0.1, SEEDS, fails_at=0.02),
        )
    ),
    reading=Text(
        "Each layer adds to the stream what its heads have fetched from the neighbours; the word's own row stays in "
        "the sum (R5). "
        "How much of a state is still the word, and how much the sentence, changes from layer to layer (Ethayarajh "
        "2019; Tenney et al. "
        "2019). Of a model with position codes part of any change is only place: so senses are compared here, not "
        "contexts.",
        "每一层把头从邻居取来的东西加进流中，词自己的那一行仍留在和里（R5）。状态中多少还是词、多少是句，逐层变化"
        "（Ethayarajh 2019；Tenney 等 2019）。"
        "带位置编码的模型里，变化有一部分只是位置所致，所以这里比较的是意义而非上下文。",
    ),
    sources=("Ethayarajh 2019", "Tenney et al. 2019, BERT Rediscovers the Classical NLP Pipeline"),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=150), Budget(seeds=6, steps=1_500)),
)

"""T5: source and target meanings become aligned."""

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Evidence, Figure, over_seeds
from pellucid.claims.partners import retrieval, sentence_states
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.texts import SEEDS

__all__ = ["CLAIM", "measure"]


def measure(budget: Budget, seed: int, trained_steps: int | None = None) -> Evidence:
    """Retrieve partners among unseen sentences before training and after it.

    Args:
        trained_steps: of the model that is said to be trained; the budget's if not given.
    """
    before: list[float] = []
    after: list[float] = []
    records: list[dict[str, object]] = []
    steps = budget.steps if trained_steps is None else trained_steps
    for number in budget.every_seed(seed):
        for when, length, values in (("before", 0, before), ("after", steps, after)):
            trained = demo_translator(length, number)
            values.append(retrieval(*sentence_states(trained.translator, trained.data.test[: budget.size])))
            records.append({"training": when, "seed": str(number), "found": values[-1]})
    titles = {
        "training": Text("training", "训练"),
        "found": Text("partner found first", "首位即为对应句的比例"),
        "seed": Text("seed", "种子"),
    }
    numbers = {
        "gain": over_seeds(b - a for a, b in zip(before, after, strict=True)),
        "found_before": over_seeds(before),
        "found_after": over_seeds(after),
    }
    return Evidence(numbers, records, Figure("bar", "training", "found", "seed", titles))


CLAIM = Claim(
    id="T5",
    statement=Text("Source and target meanings become aligned in training.", "训练使源语言与目标语言的意义对齐。"),
    equation="argmax_j cos(enc(x_i), dec(y_j)) = i",
    measured=Text(
        "partners found among unseen sentences (size: sentences) by the encoder's mean state and the mean of the "
        "decoder's stream "
        "before it looks at the source, before training and after",
        "训练前后，在未见句子中（size 为句数）用编码器平均状态与解码器看源句之前的平均流找到对应句的比例",
    ),
    rule=Rule((at_least("gain", 0.1, SEEDS, fails_at=0.02),)),
    reading=Text(
        "Nobody asks for it: the loss asks for words. But keys of the source must fit queries of the target, so both "
        "come to be written in "
        "one code. In models of many languages such states serve as sentence vectors across languages (Artetxe & "
        "Schwenk 2019); in multilingual BERT those of the middle layers do best (Pires et al. 2019).",
        "没有人要求这样：损失只要求词。但源端的键必须契合目标端的查询，于是两边写成同一种编码。在多语言模型里，这种状"
        "态可作跨语言句向量"
        "（Artetxe 与 Schwenk 2019）；多语言 BERT 则以中间各层为最佳（Pires 等 2019）。",
    ),
    sources=(
        "Artetxe & Schwenk 2019, Massively Multilingual Sentence Embeddings",
        "Pires et al. 2019, How Multilingual is Multilingual BERT?",
    ),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=220, size=100), Budget(seeds=3, steps=1_500, size=200)),
)

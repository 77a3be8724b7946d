"""T5: source and target meanings become aligned."""

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Evidence, Figure, difference, mean_over_seeds
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.texts import SEEDS
from pellucid.claims.translation_retrieval import measure_retrieval

__all__ = ["CLAIM", "measure"]


def measure(budget: Budget, seed: int) -> Evidence:
    """Retrieve partners among unseen sentences before training and after it."""
    found: dict[tuple[str, str], list[float]] = {}
    records: list[dict[str, object]] = []
    for number in budget.every_seed(seed):
        for when, length in (("before", 0), ("after", budget.steps)):
            for way, share in measure_retrieval(demo_translator(length, number), budget.size)._asdict().items():
                found.setdefault((way, when), []).append(share)
                records.append({"states": f"{way.replace('_', ' ')}, {when}", "seed": str(number), "found": share})
    titles = {
        "states": Text("states, and when", "状态与时间"),
        "found": Text("partner found first", "首位即为对应句的比例"),
        "seed": Text("seed", "种子"),
    }
    gains = {way: difference(found[way, "after"], found[way, "before"]) for way in ("turned", "as_they_are")}
    numbers = {
        **{f"gain_{way}": gain for way, gain in gains.items()},
        **{f"found_{way}_{when}": mean_over_seeds(values) for (way, when), values in found.items()},
    }
    return Evidence(numbers, records, Figure("bar", "states", "found", "seed", titles))


CLAIM = Claim(
    id="T5",
    statement=Text("Source and target meanings become aligned in training.", "训练使源语言与目标语言的意义对齐。"),
    equation="argmax_j cos(enc(x_i) R, dec(y_j)) = i,  Rᵀ R = I",
    measured=Text(
        "partners found among unseen sentences (size: sentences) by the encoder's mean state and the mean of the "
        "decoder's stream before it looks at the source, before training and after: as they are, and with one side "
        "turned by a rotation learnt from 500 training pairs",
        "训练前后，在未见句子中（size 为句数）用编码器平均状态与解码器看源句之前的平均流找到对应句的比例：直接比较，以"
        "及先用 500 个训练句对学得的旋转转动一侧再比较",
    ),
    rule=Rule(
        holds=(at_least("gain_turned", 0.1, SEEDS, fails_at=0.02),),
        beyond=(at_least("gain_as_they_are", 0.1, SEEDS, fails_at=0.02),),
        condition=Text(
            "alike means up to a rotation: training gives both sides one shape, but not one set of axes",
            "对齐是指可相差一个旋转：训练给两边同样的形状，却没有给同样的坐标轴",
        ),
    ),
    reading=Text(
        "Nobody asks for it: the loss asks for words. W_Q and W_K stand between the two sides, and any turn of one can "
        "be taken back in them, so nothing draws the axes together; that the shapes agree is what a rotation shows. "
        "Even fresh weights agree a little: two means over words that say the same are sums of random vectors with the "
        "same weights. In models of many languages such states serve as sentence vectors across languages (Artetxe & "
        "Schwenk 2019); in multilingual BERT those of the middle layers do best (Pires et al. 2019).",
        "没有人要求这样：损失只要求词。两边之间隔着 W_Q 与 W_K，一边转动多少都可由它们抵消，所以没有什么把坐标轴拉到"
        "一处；两边形状一致，要转动之后才看得见。连新权重也略微一致：意思相同的两句，其词的平均是权重相同的随机向量之"
        "和。在多语言模型里，这种状态可作跨语言句向量"
        "（Artetxe 与 Schwenk 2019）；多语言 BERT 则以中间各层为最佳（Pires 等 2019）。",
    ),
    sources=(
        "Artetxe & Schwenk 2019, Massively Multilingual Sentence Embeddings",
        "Pires et al. 2019, How Multilingual is Multilingual BERT?",
    ),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=150, size=100), Budget(seeds=6, steps=1_500, size=200)),
)

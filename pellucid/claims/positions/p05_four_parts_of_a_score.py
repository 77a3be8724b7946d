"""P5: the score splits into four parts of content and position."""

from collections.abc import Iterable

import numpy

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_most
from pellucid.claims.texts import ROUNDING_32
from pellucid.inspection.score_decomposition import ScoreDecomposition, decompose_scores

__all__ = ["CLAIM", "measure"]


def measure(splits: Iterable[ScoreDecomposition]) -> Evidence:
    """Compare the sum of the parts with the score, relative to the largest score of the sentence, for every head."""
    largest: float = 0.0
    records: list[dict[str, object]] = []
    for split in splits:
        largest = max(largest, split.error / float(numpy.abs(split.scores.values).max()))
        records = records or [
            {"head": str(head), "part": name.replace("_", "–"), "mean_square": float((part.values[head] ** 2).mean())}
            for head in range(len(split.scores.values))
            for name, part in split.parts.items()
        ]
    titles = {
        "head": Text("head of layer 1", "第一层的头"),
        "mean_square": Text("mean square of the part", "该部分的均方"),
        "part": Text("part", "部分"),
    }
    return Evidence(
        exact_values(largest_relative_difference=largest), records, Figure("bar", "head", "mean_square", "part", titles)
    )


def _run(budget: Budget, seed: int) -> Evidence:
    trained = demo_translator(budget.steps, seed)
    looks = (trained.translator.look(pair.source, target=pair.target) for pair in trained.data.test[:20])
    return measure(decompose_scores(look, "encoder.0.self_attention") for look in looks)


CLAIM = Claim(
    id="P5",
    statement=Text(
        "A score splits into content–content, content–position, position–content and position–position, and their "
        "sum is the score.",
        "分数可拆成内容–内容、内容–位置、位置–内容、位置–位置四项，其和就是分数。",
    ),
    equation="(x_c + x_p) W_Q W_Kᵀ (y_c + y_p)ᵀ = CC + CP + PC + PP",
    measured=Text(
        "a translator trained on the demo language with added sinusoids: each head of the encoder's first layer on "
        "20 unseen sentences",
        "在演示语言上训练、使用相加正弦编码的翻译器：编码器第一层每个头在 20 个未见句子上的分数",
    ),
    rule=Rule((at_most("largest_relative_difference", 1e-4, ROUNDING_32),)),
    reading=Text(
        "The product is bilinear, so the identity is exact; the norm in front only divides both parts by the same "
        "number. "
        "It ends with the first layer: afterwards content and position have been through a softmax and an "
        "activation, and "
        "no share of the stream is “the position” any more. DeBERTa (He et al. 2021) keeps the two apart in every "
        "layer by "
        "construction, and leaves position–position out.",
        "点积是双线性的，所以恒等式是精确的；前面的归一化只是用同一个数去除两部分。它到第一层为止：此后内容与位置都"
        "经过了 softmax 和激活函数，"
        "流中再没有哪一份是“位置”。DeBERTa（He 等 2021）在构造上让两者在每层都分开，并去掉位置–位置项。",
    ),
    sources=("Vaswani et al. 2017, §3.5", "Ke et al. 2021, Rethinking Positional Encoding", "He et al. 2021, DeBERTa"),
    run=_run,
    effort=Effort(Budget(steps=150), Budget(steps=1_500)),
)

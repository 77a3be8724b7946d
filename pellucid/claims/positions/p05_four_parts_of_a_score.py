"""P5: the score splits into four parts of content and position."""

from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Evidence, Figure, exactly
from pellucid.claims.rules import Rule, at_most
from pellucid.claims.score_parts import PARTS, FirstScores, first_scores
from pellucid.claims.texts import ROUNDING_32
from pellucid.models.encoder_decoder import EncoderDecoder

__all__ = ["CLAIM", "measure"]

Split = Callable[[EncoderDecoder, Tensor], FirstScores]


def measure(model: EncoderDecoder, sentences: list[list[int]], split: Split = first_scores) -> Evidence:
    """Split the scores of each head of the first layer, and compare the sum of the parts with the score."""
    largest, records = 0.0, []
    for number, ids in enumerate(sentences):
        scores, parts = split(model, torch.tensor([ids]))
        error = (parts.sum(0) - scores).abs().amax((1, 2)) / scores.abs().max()
        largest = max(largest, float(error.max()))
        if number == 0:
            records = [
                {"head": str(head), "part": name, "mean_square": float(parts[place, head].square().mean())}
                for head in range(scores.shape[0])
                for place, name in enumerate(PARTS)
            ]
    titles = {
        "head": Text("head of layer 1", "第一层的头"),
        "mean_square": Text("mean square of the part", "该部分的均方"),
        "part": Text("part", "部分"),
    }
    return Evidence(
        exactly(largest_relative_difference=largest), records, Figure("bar", "head", "mean_square", "part", titles)
    )


def _run(budget: Budget, seed: int) -> Evidence:
    trained = demo_translator(budget.steps, seed)
    encode = trained.translator.source_tokenizer.encode
    return measure(trained.translator.model, [encode(pair.source) for pair in trained.data.test[:20]])


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
    effort=Effort(Budget(steps=250), Budget(steps=1_500)),
)

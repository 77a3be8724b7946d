"""E15: word vectors alone cannot hold a sentence."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.evidence import Evidence, Figure, exact_values, mean_over_seeds
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.small_models import no_mask, small_decoder
from pellucid.claims.texts import SEEDS
from pellucid.claims.toy_training import fit
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.initialise import init_weights

__all__ = ["CLAIM", "measure"]

_ANIMALS = range(1, 9)  # 9 stands for 追


def _texts() -> tuple[Tensor, Tensor]:
    pairs = torch.tensor([(a, b) for a in _ANIMALS for b in _ANIMALS if a != b])
    return torch.stack((pairs[:, 0], torch.full((len(pairs),), 9), pairs[:, 1]), 1), pairs[:, 0]


def measure(budget: Budget, seed: int, positions: str = "sinusoidal") -> Evidence:
    """Ask who chases, of the mean of the word vectors and of the mean of an encoder's states.

    Args:
        positions: that the encoder is told.
    """
    found: dict[str, list[float]] = {"mean of word vectors": [], "mean of encoder states": []}
    off = 0.0
    text, who = _texts()
    for number in budget.every_seed(seed):
        for way, values in found.items():
            model, namer = small_decoder(number, vocab_size=10, positions=positions), nn.Linear(32, 10)
            init_weights(namer, number, residual_scale=1.0)

            def said(way: str = way, model: DecoderOnly = model, namer: nn.Module = namer) -> Tensor:
                states = model.embedding(text) if "word" in way else model.states(text, may_attend=no_mask(3))
                named: Tensor = namer(states.mean(1))
                return named

            def loss(step: int, said: Callable[[], Tensor] = said) -> Tensor:
                return F.cross_entropy(said(), who)

            fit(nn.ModuleList([model, namer]), loss, budget.steps)
            with torch.no_grad():
                values.append(float((said().argmax(1) == who).float().mean()))
                rows = model.embedding(torch.tensor([[1, 9, 2], [2, 9, 1]])).mean(1)
            off = max(off, float((rows[0] - rows[1]).abs().max()))
    records = [
        {"way": way, "seed": str(seed + n), "accuracy": value}
        for way, values in found.items()
        for n, value in enumerate(values)
    ]
    titles = {
        "way": Text("sentence as", "句子表示为"),
        "accuracy": Text("who chases: right", "谁在追：正确率"),
        "seed": Text("seed", "种子"),
    }
    means, states = found.values()
    numbers = {
        **exact_values(difference_of_the_two_means=off),
        "accuracy_of_means": mean_over_seeds(means),
        "accuracy_of_encoder_states": mean_over_seeds(states),
    }
    return Evidence(numbers, records, Figure("bar", "way", "accuracy", "seed", titles))


CLAIM = Claim(
    id="E15",
    statement=Text("Word vectors alone cannot hold a sentence.", "单靠词向量装不下一个句子。"),
    equation="mean(猫, 追, 狗) = mean(狗, 追, 猫)",
    measured=Text(
        "the means of 猫追狗 and 狗追猫; and who chases, named from the mean of trained word vectors and from the "
        "mean of a "
        "two-layer encoder's states, over all sentences of eight animals",
        "“猫追狗”与“狗追猫”的均值；以及分别从训练后的词向量均值和两层编码器状态均值判断谁在追，遍历八种动物的全部句子",
    ),
    rule=Rule(
        (
            at_most(
                "difference_of_the_two_means",
                1e-6,
                Text("a sum of three numbers in another order, in float32", "三个 float32 数换序相加"),
            ),
            at_most(
                "accuracy_of_means",
                0.6,
                Text("half is the best that can be done blind to order", "看不见次序者最多对一半"),
                fails_at=0.75,
            ),
            at_least("accuracy_of_encoder_states", 0.9, SEEDS, fails_at=0.75),
        )
    ),
    reading=Text(
        "What a sum loses is who does what to whom. Much of what a sentence is about survives it all the same: "
        "averaged word "
        "vectors are a strong baseline for topic and similarity (Wieting et al. 2016; Arora et al. 2017), and a good "
        "probe finds "
        "even some word order in them, by what usually stands where (Adi et al. 2017).",
        "求和丢掉的是谁对谁做了什么。但句子讲的是什么大半保得住：平均词向量在主题与相似度上是强基线（Wieting 等 2016；"
        "Arora 等 2017），"
        "好的探针甚至能从中找出一些词序，凭的是什么通常站在哪里（Adi 等 2017）。",
    ),
    sources=(
        "Mitchell & Lapata 2010",
        "Arora et al. 2017, A Simple but Tough-to-Beat Baseline",
        "Adi et al. 2017, Fine-grained Analysis of Sentence Embeddings",
    ),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=120), Budget(seeds=5, steps=300)),
)

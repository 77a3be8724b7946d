"""H4: heads specialise, and losing one is survivable."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import torch
from torch import Tensor

from pellucid.claims.activations import Activations
from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.texts import SEEDS
from pellucid.claims.translation_loss import pair_batch, translation_loss
from pellucid.demo.language import DemoPair
from pellucid.layers.taps import Tap
from pellucid.translator import Translator

__all__ = ["CLAIM", "divergence", "measure", "without_head"]


def without_head(place: str, head: int) -> Tap:
    """Return a tap that sets what one head has mixed to zero."""

    def tap(name: str, x: Tensor) -> Tensor:
        if name != f"{place}.head_output":
            return x
        kept = torch.ones(x.shape[1], 1, 1)
        kept[head] = 0
        return x * kept

    return tap


def _places(translator: Translator) -> Iterator[tuple[str, int]]:
    model = translator.model
    for stack, blocks, parts in (
        ("encoder", model.encoder, ["self_attention"]),
        ("decoder", model.decoder, ["self_attention", "cross_attention"]),
    ):
        for layer in range(len(blocks)):
            for part in parts:
                for head in range(model.config.n_heads):
                    yield f"{stack}.{layer}.{part}", head


def divergence(translator: Translator, pairs: Sequence[DemoPair]) -> float:
    """Return how differently two heads of a layer distribute their weights: Jensen–Shannon, bits, mean over rows."""
    sources, targets = pair_batch(translator, pairs)
    activations = Activations()
    with torch.no_grad():
        translator.model(sources, targets[:, :-1], activations)
    found = []
    for name, weights in activations.items():
        if name.endswith("self_attention.weights") and name.startswith("encoder"):
            is_token = sources != translator.source_tokenizer.pad_id
            for a, b in combinations(weights.unbind(1), 2):
                middle = (a + b) / 2
                bits = sum(torch.special.xlogy(x, x / middle.clamp_min(1e-30)).sum(-1) for x in (a, b)) / 2
                found.append(float(bits[is_token].mean() / torch.tensor(2.0).log()))
    return sum(found) / len(found)


def measure(budget: Budget, seed: int) -> Evidence:
    """Drop each head of a trained translator in turn; compare heads' attention before training and after."""
    worst, median, gain, records = [], [], [], []
    for number in budget.every_seed(seed):
        trained, fresh = demo_translator(budget.steps, number), demo_translator(0, number)
        pairs = trained.data.test[: budget.size]
        whole = translation_loss(trained.translator, pairs)
        losses = {
            (place, head): translation_loss(trained.translator, pairs, without_head(place, head)) - whole
            for place, head in _places(trained.translator)
        }
        ordered = sorted(losses.values())
        worst.append(ordered[-1])
        median.append(ordered[len(ordered) // 2] / whole)
        gain.append(divergence(trained.translator, pairs[:20]) - divergence(fresh.translator, pairs[:20]))
        if number == seed:
            records = [
                {"attention": place, "head": str(head), "loss_added": added} for (place, head), added in losses.items()
            ]
    titles = {
        "attention": Text("attention", "注意力"),
        "loss_added": Text("loss added without the head, nats a token", "去掉该头增加的损失（奈特/词元）"),
        "head": Text("head", "头"),
    }
    numbers = {
        "median_loss_added_relative": mean_over_seeds(median),
        "largest_loss_added": mean_over_seeds(worst),
        "divergence_gained_by_training": mean_over_seeds(gain),
    }
    return Evidence(numbers, records, Figure("bar", "attention", "loss_added", "head", titles))


CLAIM = Claim(
    id="H4",
    statement=Text("Heads specialise; losing one is survivable.", "各头各有专长；失去一个仍可承受。"),
    equation="loss without head h − loss",
    measured=Text(
        "each head of a translator trained on the demo language dropped in turn (size: sentences): the median loss "
        "added, "
        "relative to the loss; how much more the encoder's heads differ in where they look (Jensen–Shannon) than at "
        "first",
        "逐一去掉演示语言翻译器的每个头（size 为句数）：损失增量的中位数与原损失之比；以及编码器各头所看之处的差异"
        "（JS 散度）比初始时增加多少",
    ),
    rule=Rule(
        (
            at_most(
                "median_loss_added_relative",
                0.25,
                Text(
                    "the typical head's loss must cost less than a quarter more",
                    "典型的头被去掉后，损失增加不到四分之一",
                ),
                fails_at=1.0,
            ),
            at_least("divergence_gained_by_training", 0.02, SEEDS, fails_at=0.0),
        )
    ),
    reading=Text(
        "In large translators most heads can go one at a time, and some cannot: those of the cross-attention that "
        "align (Voita et al. 2019; Michel et al. 2019). One as small as this has fewer to spare, and of a loss so low "
        "any addition is a large share. Survivable without retraining does not mean useless: another head may step "
        "in, and heads that never mattered may have helped to train. What a head “does” is read off its weights with "
        "care (Jain & Wallace 2019).",
        "大翻译模型的多数头可以逐一去掉，少数不行：交叉注意力里负责对齐的那些（Voita 等 2019；Michel 等 2019）。这么小"
        "的模型没有多少富余，而损失本来就低，增加一点，所占比例就大。不重训也能承受，并不等于无用：别的头可能顶上，从"
        "未起作用的头也可能帮助过训练。凭权重解读头“在做什么”须谨慎（Jain 与 Wallace 2019）。",
    ),
    sources=("Michel et al. 2019", "Voita et al. 2019", "Jain & Wallace 2019, Attention is not Explanation"),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=150, size=40), Budget(seeds=6, steps=1_500, size=150)),
)

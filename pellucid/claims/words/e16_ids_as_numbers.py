"""E16: spreading ids out is worse than folding one-hots down."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.evidence import Evidence, Figure, difference, mean_over_seeds
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.small_models import torch_generator
from pellucid.claims.texts import SEEDS
from pellucid.claims.toy_training import fit
from pellucid.layers.embeddings import TokenEmbedding
from pellucid.layers.feed_forward import FeedForward

__all__ = ["CLAIM", "measure"]

_WORDS, _CLASSES, _D = 64, 4, 16


class _Spread(nn.Module):
    """An id as one number from −1 to 1, spread over the width by a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.widen = nn.Linear(1, _D)

    def forward(self, ids: Tensor) -> Tensor:
        widened: Tensor = self.widen(2 * ids[..., None].float() / (_WORDS - 1) - 1)
        return widened


def _accuracy(entry: nn.Module, labels: Tensor, steps: int, seed: int) -> float:
    network = nn.Sequential(entry, FeedForward(_D, 4 * _D, True, nn.ReLU()), nn.Linear(_D, _CLASSES))
    with torch.no_grad():
        random = torch_generator(seed, "E16", "weights")
        for weight in network.parameters():
            weight.normal_(std=0.3, generator=random)
    ids = torch.arange(_WORDS)[None]
    fit(network, lambda step: F.cross_entropy(network(ids)[0], labels), steps, learning_rate=1e-2)
    with torch.no_grad():
        return float((network(ids)[0].argmax(1) == labels).float().mean())


def measure(budget: Budget, seed: int, ordered: bool = False) -> Evidence:
    """Teach a small network the classes of 64 words, of an id as a number and of an embedding row.

    Args:
        ordered: let the classes follow the ids, so that a number is all that is needed.
    """
    found: dict[str, list[float]] = {"id as a number": [], "embedding row": []}
    for number in budget.every_seed(seed):
        random = torch_generator(number, "E16")
        labels = torch.randint(_CLASSES, (_WORDS,), generator=random)
        if ordered:
            labels = torch.arange(_WORDS) * _CLASSES // _WORDS
        found["id as a number"].append(_accuracy(_Spread(), labels, budget.steps, number))
        found["embedding row"].append(_accuracy(TokenEmbedding(_WORDS, _D, 1.0), labels, budget.steps, number))
    records = [
        {"input": way, "seed": str(seed + n), "accuracy": value}
        for way, values in found.items()
        for n, value in enumerate(values)
    ]
    titles = {"input": Text("input", "输入"), "accuracy": Text("accuracy", "准确率"), "seed": Text("seed", "种子")}
    spread, folded = found.values()
    numbers = {
        "advantage_of_embedding": difference(folded, spread),
        "accuracy_of_id": mean_over_seeds(spread),
        "accuracy_of_embedding": mean_over_seeds(folded),
    }
    return Evidence(numbers, records, Figure("bar", "input", "accuracy", "seed", titles))


CLAIM = Claim(
    id="E16",
    statement=Text("Spreading ids out is worse than folding one-hots down.", "把编号“升维”不如把独热“降维”。"),
    equation="f(id · w + b)  against  f(onehot(id) · W)",
    measured=Text(
        "the same small network learns four arbitrary classes of 64 words, given the id as a number or an embedding "
        "row; "
        "accuracy after equally many steps",
        "同一个小网络学习 64 个词的四个任意类别，输入为数值编号或嵌入行；训练同样步数后的准确率",
    ),
    rule=Rule((at_least("advantage_of_embedding", 0.2, SEEDS, fails_at=0.05),)),
    reading=Text(
        "A number puts words on a line: neighbours by id must be told apart by kinks, one for each change of class "
        "along it, and "
        "a network learns slow functions first (Rahaman et al. 2019). One-hot rows start out as strangers to each "
        "other, so any "
        "grouping is equally easy. Where ids do have an order, as amounts and years have, the number is the better "
        "input.",
        "数值把词排在一条线上：编号相邻者要靠折点分开，沿线每变一次类别就要一个，而网络总是先学变化缓慢的函数"
        "（Rahaman 等 2019）。"
        "独热行彼此素不相识，所以任何分组都同样容易。若编号本就有次序（如数量、年份），直接用数值反而更好。",
    ),
    sources=(
        "Guo & Berkhahn 2016, Entity Embeddings of Categorical Variables",
        "Rahaman et al. 2019, On the Spectral Bias of Neural Networks",
    ),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=300), Budget(seeds=5, steps=600)),
)

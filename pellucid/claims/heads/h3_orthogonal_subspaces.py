"""H3: heads live in orthogonal subspaces."""

from itertools import combinations
from typing import cast

import torch
from torch import Tensor

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Evidence, Figure, difference, mean_over_seeds
from pellucid.claims.rules import Rule, at_most
from pellucid.claims.small_models import torch_generator
from pellucid.layers.attention import Attention
from pellucid.models.encoder_decoder import EncoderDecoder

__all__ = ["CLAIM", "measure", "overlap"]

_MATRICES = ("query", "key", "value")


def overlap(one: Tensor, other: Tensor) -> float:
    """Return the mean squared cosine of the principal angles of two row spaces: 0 orthogonal, 1 the same.

    Source:
        Björck & Golub 1973.
    """
    bases = [torch.linalg.qr(matrix.T)[0] for matrix in (one, other)]
    return float(torch.linalg.svdvals(bases[0].T @ bases[1]).square().mean())


def _attentions(model: EncoderDecoder) -> list[Attention]:
    """Return the self-attention of each layer of the encoder."""
    found = [block.self_attention for block in model.encoder]
    assert all(isinstance(attention, Attention) for attention in found)
    return cast("list[Attention]", found)


def _of_model(model: EncoderDecoder) -> dict[str, float]:
    """Return the mean overlap of two heads of a layer, by matrix."""
    found: dict[str, list[float]] = {name: [] for name in _MATRICES}
    for attention in _attentions(model):
        for name in _MATRICES:
            weight = getattr(attention, name).weight.detach()
            found[name] += [overlap(a, b) for a, b in combinations(weight.chunk(attention.n_heads), 2)]
    return {name: sum(values) / len(values) for name, values in found.items()}


def measure(budget: Budget, seed: int) -> Evidence:
    """Compare the overlap of heads' row spaces, trained and at first, with that of random subspaces."""
    found: dict[tuple[str, str], list[float]] = {}
    for number in budget.every_seed(seed):
        models = {"at first": demo_translator(0, number), "trained": demo_translator(budget.steps, number)}
        for when, trained in models.items():
            for name, value in _of_model(trained.translator.model).items():
                found.setdefault((when, name), []).append(value)
        attention = _attentions(trained.translator.model)[0]
        random = torch_generator(number, "H3")
        shapes = 2, attention.d_head, attention.query.in_features
        drawn = [overlap(*torch.randn(shapes, generator=random)) for _ in range(50)]
        found.setdefault(("random", "any"), []).append(sum(drawn) / len(drawn))
    records = []
    for (when, name), values in found.items():
        mean = mean_over_seeds(values)
        records.append({"subspaces": when, "matrix": name, **mean.columns("overlap")})
    trained_mean = [sum(found["trained", name][n] for name in _MATRICES) / 3 for n in range(budget.seeds)]
    titles = {
        "subspaces": Text("subspaces", "子空间"),
        "overlap": Text("mean squared cosine of principal angles", "主角余弦平方的平均"),
        "matrix": Text("matrix", "矩阵"),
    }
    numbers = {
        "overlap_trained": mean_over_seeds(trained_mean),
        "overlap_random": mean_over_seeds(found["random", "any"]),
        "trained_less_random": difference(trained_mean, found["random", "any"]),
    }
    return Evidence(numbers, records, Figure("bar", "subspaces", "overlap", "matrix", titles))


CLAIM = Claim(
    id="H3",
    statement=Text("Heads live in orthogonal subspaces.", "各个头处在相互正交的子空间里。"),
    equation="W_Q^(h) (W_Q^(g))ᵀ = 0  for h ≠ g",
    measured=Text(
        "principal angles between the row spaces of W_Q, W_K, W_V of two heads of a layer, trained on the demo "
        "language and at "
        "first, against random subspaces of the same size: mean squared cosine",
        "同层两头的 W_Q、W_K、W_V 行空间的主角（演示语言训练后与初始时），对照同样大小的随机子空间：余弦平方的平均",
    ),
    rule=Rule(
        (
            at_most(
                "overlap_trained",
                0.05,
                Text(
                    "orthogonal is 0; a quarter of the dimensions taken at random overlap by 0.25; 0.05 is nearly none",
                    "正交为 0；随机取四分之一的维数，重合为 0.25；0.05 几乎没有",
                ),
                fails_at=0.15,
            ),
        ),
        instead=Text(
            "nothing in the loss asks for it: heads overlap about as random subspaces do; what is orthogonal by "
            "construction is "
            "only where their outputs stand side by side before W_O",
            "损失函数并不要求正交：各头的重合与随机子空间相当；构造上正交的只是它们在 W_O 之前并排存放的位置",
        ),
    ),
    reading=Text(
        "Heads read from one stream and are free to read the same. Trained heads are often redundant (Voita et al. "
        "2019; Michel et al. "
        "2019), and keys of several heads share low-dimensional structure enough to be compressed together "
        "(Cordonnier et al. 2020). "
        "Penalties that drive heads apart have to be added on purpose (Li et al. 2018b).",
        "各头从同一条流中读取，完全可以读同样的东西。训练后的头常有冗余（Voita 等 2019；Michel 等 2019），多个头的键共"
        "享低维结构，甚至可以合并压缩（Cordonnier 等 2020）。"
        "要让头彼此分开，得特意加上惩罚项（Li 等 2018b）。",
    ),
    sources=(
        "Michel et al. 2019",
        "Cordonnier et al. 2020, Multi-Head Attention: Collaborate Instead of Concatenate",
        "Li et al. 2018b, Multi-Head Attention with Disagreement Regularization",
    ),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=150), Budget(seeds=6, steps=1_500)),
)

"""M2: matrix maps are linear."""

from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_most
from pellucid.claims.small_models import small_decoder, torch_generator
from pellucid.claims.texts import ROUNDING_64
from pellucid.layers.feed_forward import FeedForward

__all__ = ["CLAIM", "measure"]

Map = Callable[[Tensor], Tensor]


def projections(seed: int) -> dict[str, Map]:
    """Return the matrices of a small model's first block, each as a map, in float64."""
    block = next(small_decoder(seed, activation="relu", bias=False).double().blocks())
    attention, feed_forward = block.self_attention, block.feed_forward
    assert isinstance(feed_forward, FeedForward)
    return {
        "W_Q": attention.query, "W_K": attention.key, "W_V": attention.value, "W_O": attention.output,
        "W_1": feed_forward.up_projection, "W_2": feed_forward.down_projection,
    }  # fmt: skip


def measure(seed: int, maps: dict[str, Map]) -> Evidence:
    """Compare f(ax + by) with a f(x) + b f(y) for each map, relative to the image."""
    random, records, largest = torch_generator(seed, "M2"), [], 0.0
    for name, f in maps.items():
        width = 64 if name == "W_2" else 32
        worst = 0.0
        for _ in range(20):
            x, y = torch.randn(2, width, generator=random, dtype=torch.float64)
            a, b = torch.randn(2, generator=random, dtype=torch.float64)
            with torch.no_grad():
                joint, apart = f(a * x + b * y), a * f(x) + b * f(y)
            worst = max(worst, float((joint - apart).norm() / apart.norm()))
        records.append({"matrix": name, "error": worst})
        largest = max(largest, worst)
    titles = {"matrix": Text("matrix", "矩阵"), "error": Text("relative difference", "相对差")}
    return Evidence(exact_values(largest_difference=largest), records, Figure("bar", "matrix", "error", None, titles))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed, projections(seed))


CLAIM = Claim(
    id="M2",
    statement=Text("Matrix maps are linear.", "矩阵变换是线性的。"),
    equation="f(ax + by) = a f(x) + b f(y)",
    measured=Text(
        "the six matrices of a block, without biases, on random pairs of vectors in float64",
        "一个块的六个矩阵（无偏置），float64 随机向量对",
    ),
    rule=Rule((at_most("largest_difference", 1e-10, ROUNDING_64),)),
    reading=Text(
        "That is why score parts can be added up, steering vectors can be subtracted and a residual stream can be "
        "taken "
        "apart into what each part wrote. It holds for the matrices, not for the model: a bias makes the map "
        "affine, and "
        "softmax, norm and activation bend it. Two linear maps without a bend between them are one (their product).",
        "正因如此，分数的各部分可以相加，方向向量可以相减，残差流可以拆成各部分写入之和。这只对矩阵成立，对整个模型"
        "不成立："
        "偏置使映射变为仿射，softmax、归一化和激活函数使它弯曲。中间没有弯曲的两个线性映射等于一个（它们的乘积）。",
    ),
    sources=("Strang 2016, §8.1", "Elhage et al. 2021, A Mathematical Framework for Transformer Circuits"),
    run=_run,
)

"""M1: a matrix takes vectors of m numbers to vectors of n numbers, each by itself."""

from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_most
from pellucid.claims.small_models import torch_generator
from pellucid.claims.texts import EXACTLY_NONE
from pellucid.layers.attention import Attention, HeadConfig
from pellucid.layers.positions import no_bias
from pellucid.layers.rotary import no_rotation
from pellucid.randomness import generator

__all__ = ["CLAIM", "measure"]

Map = Callable[[Tensor, Tensor], Tensor]


def _by_projection(vectors: Tensor, matrix: Tensor) -> Tensor:
    """Map by a layer of the library: the query projection of an attention head."""
    attention = Attention(len(matrix), HeadConfig(1, 1, matrix.shape[1], bias=False), False, 0.0, no_rotation, no_bias)
    attention.query.weight.data = matrix.T.contiguous()
    mapped: Tensor = attention.query(vectors).detach()
    return mapped


def measure(seed: int, mapped: Map = _by_projection, trials: int = 30) -> Evidence:
    """Map sets of vectors of random sizes; count shapes that come out otherwise, and change one vector of each set."""
    draw, random = generator(seed, "M1"), torch_generator(seed, "M1")
    wrong, leaked, records = 0, 0.0, []
    for _ in range(trials):
        k, m, n = (int(size) for size in draw.integers(2, 40, 3))
        vectors, matrix = torch.randn(k, m, generator=random), torch.randn(m, n, generator=random)
        out = mapped(vectors, matrix)
        wrong += tuple(out.shape) != (k, n)
        changed = vectors.clone()
        changed[0] += 1
        if out.shape[0] > 1:
            # The same rows of a product of the same shape: nothing but the first row may differ, by a bit.
            leaked = max(leaked, float((mapped(changed, matrix) - out)[1:].abs().max()))
        records.append({"k": k, "m": m, "n": n, "rows": out.shape[0], "columns": out.shape[-1]})
    titles = {
        "n": Text("columns of the matrix, n", "矩阵的列数 n"),
        "columns": Text("numbers of a mapped vector", "映射后向量的维数"),
    }
    return Evidence(
        exact_values(wrong_shapes=wrong, change_of_other_vectors=leaked),
        records,
        Figure("point", "n", "columns", None, titles),
    )


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


CLAIM = Claim(
    id="M1",
    statement=Text(
        "An m × n matrix takes row vectors of m numbers to n numbers; a set of k vectors stays k vectors.",
        "m×n 矩阵把 m 维行向量变成 n 维；k 个向量变换后仍是 k 个。",
    ),
    equation="(k × m)(m × n) = (k × n)",
    measured=Text(
        "30 sets of random sizes through an attention head's projection: shapes, and whether a change of one vector "
        "reaches another's image",
        "30 组随机大小的向量通过注意力头的投影：检查形状，以及改动一个向量是否会影响其他向量的像",
    ),
    rule=Rule((at_most("wrong_shapes", 0, EXACTLY_NONE), at_most("change_of_other_vectors", 0.0, EXACTLY_NONE))),
    reading=Text(
        "Each row is mapped alone, so a matrix layer cannot move anything from one token to another: it works on the "
        "inside of a token. Everything that passes between tokens passes through attention. The convention of rows "
        "(x W) and that of columns (W x) differ by a transpose; PyTorch's Linear stores the latter.",
        "每一行单独被映射，所以矩阵层不可能把任何东西从一个词元搬到另一个：它只在词元内部起作用，词元之间的一切都经"
        "由注意力。"
        "行向量写法（xW）与列向量写法（Wx）只差一个转置；PyTorch 的 Linear 存的是后者。",
    ),
    sources=("Strang 2016, Introduction to Linear Algebra, §2.4",),
    run=_run,
)

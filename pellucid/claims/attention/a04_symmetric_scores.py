"""A4: with Q = K = X attention is mutual."""

import torch
from torch import Tensor

from pellucid.claims.activations import Activations
from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.small_models import no_mask, torch_generator
from pellucid.layers.attention import attend

__all__ = ["CLAIM", "measure"]

_LENGTH, _D = 8, 32


def _seen(query: Tensor, key: Tensor) -> dict[str, Tensor]:
    activations = Activations()
    attend(query, key, key, no_mask(_LENGTH), activations)
    return {name: x[0, 0] for name, x in activations.items()}


def measure(seed: int, key_of: Tensor | None = None) -> Evidence:
    """Compare scores and weights with their transposes: of X with itself, and through W_Q and W_K.

    Args:
        key_of: what keys are made by from X, [32 32]; the identity if not given.
    """
    random = torch_generator(seed, "A4")
    x = torch.randn(1, 1, _LENGTH, _D, generator=random)
    w_q, w_k = torch.randn(2, _D, _D, generator=random) / _D**0.5
    own = _seen(x, x if key_of is None else x @ key_of)
    projected = _seen(x @ w_q, x @ w_k)
    records = [
        {"query": i + 1, "key": j + 1, "weight": float(own["weights"][i, j])}
        for i in range(_LENGTH)
        for j in range(_LENGTH)
    ]
    titles = {"query": Text("query", "查询"), "key": Text("key", "键"), "weight": Text("weight", "权重")}
    numbers = exact_values(
        asymmetry_of_scores=_asymmetry(own["scores"]),
        asymmetry_of_weights=_asymmetry(own["weights"]),
        asymmetry_of_scores_through_two_matrices=_asymmetry(projected["scores"]),
    )
    return Evidence(numbers, records, Figure("heat", "key", "query", "weight", titles))


def _asymmetry(matrix: Tensor) -> float:
    """Return how far a matrix is from its transpose off the diagonal, relative to its size there."""
    off = matrix * (1 - torch.eye(len(matrix)))
    return float((off - off.T).norm() / off.norm())


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


_MUTUAL = Text(
    "relative difference from the transpose; rounding makes 1e-6, two unrelated directions about 1.4",
    "与转置的相对差；舍入约 1e-6，两个方向毫无关系时约 1.4",
)

CLAIM = Claim(
    id="A4",
    statement=Text(
        "With Q = K = X the score matrix is symmetric, so attention is mutual.",
        "若 Q = K = X，分数矩阵对称，因此注意力是相互的。",
    ),
    equation="S = X Xᵀ = Sᵀ;  A = softmax(S) ≠ Aᵀ",
    measured=Text(
        "scores and weights of eight random vectors against their transposes, without projections and with two",
        "八个随机向量的分数与权重对照其转置，不投影与经两个投影各一次",
    ),
    rule=Rule(
        holds=(
            at_most("asymmetry_of_scores", 1e-4, _MUTUAL),
            at_least("asymmetry_of_scores_through_two_matrices", 0.1, _MUTUAL),
        ),
        beyond=(at_most("asymmetry_of_weights", 1e-4, _MUTUAL, fails_at=0.02),),
        condition=Text(
            "scores are meant: each row has a softmax with its own sum, so the weights are not mutual; separate W_Q "
            "and "
            "W_K make even the scores one-sided",
            "说的是分数：每一行各有自己的 softmax 总和，所以权重并不相互；分开的 W_Q、W_K 使连分数也不对称",
        ),
    ),
    reading=Text(
        "“The cat looks at the fish as much as the fish at the cat” is true of the match and false of the "
        "attention: a word "
        "with many good matches gives each little, one with few gives much. And the bilinear form x W_Q W_Kᵀ y need "
        "not be symmetric, so a verb can look for its object without being looked for (A6).",
        "“猫看鱼与鱼看猫一样多”对匹配程度成立，对注意力不成立：匹配对象多的词给每个都少，匹配对象少的词给得多。"
        "而双线性型 x W_Q W_Kᵀ y 不必对称，所以动词可以去找宾语而不被宾语找（A6）。",
    ),
    sources=("Vaswani et al. 2017, §3.2",),
    run=_run,
)

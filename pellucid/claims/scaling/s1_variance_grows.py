"""S1: the variance of a dot product grows with its length."""

from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.claims.activations import Activations
from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Estimate, Evidence, Figure, mean_over_seeds
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.small_models import torch_generator
from pellucid.layers.attention import attend

__all__ = ["CLAIM", "WIDTHS", "measure", "normal", "paired", "scores", "spread"]

WIDTHS = tuple(2**power for power in range(11))
_PAIRS = 2_000  # of a query and a key that no other pair has, so that their products are independent

Draw = Callable[[tuple[int, ...], torch.Generator], Tensor]


def normal(shape: tuple[int, ...], random: torch.Generator) -> Tensor:
    """Return independent numbers of mean 0 and variance 1."""
    return torch.randn(shape, generator=random)


def scores(query: Tensor, key: Tensor) -> Tensor:
    """Return what the library's attention makes of queries and keys before the softmax, [rows keys]."""
    activations = Activations()
    mask = torch.ones(1, 1, 1, 1, dtype=torch.bool)
    attend(query[None, None], key[None, None], key[None, None], mask, activations)
    return activations["scores"][0, 0]


def paired(query: Tensor, key: Tensor) -> Tensor:
    """Return the scores of pairs, each of a query and a key of its own, [pairs]."""
    activations = Activations()
    mask = torch.ones(1, 1, 1, 1, dtype=torch.bool)
    q, k = query[:, None, None], key[:, None, None]
    attend(q, k, k, mask, activations)
    return activations["scores"].flatten()


def spread(seed: int, name: str, score: Callable[[Tensor, Tensor], Tensor], draw: Draw = normal) -> list[Estimate]:
    """Return, for each width, the variance of a score over its expectation, with a 95 % interval over ten draws."""
    found = []
    for d in WIDTHS:
        random = torch_generator(seed, name, "pairs", d)
        variances = []
        for _ in range(10):
            q, k = draw((_PAIRS, d), random), draw((_PAIRS, d), random)
            variances.append(float(score(q, k).var()))
        found.append(mean_over_seeds(variances))
    return found


def measure(seed: int, draw: Draw = normal) -> Evidence:
    """Measure the variance of q·k for widths from 1 to 1,024."""
    variances = spread(seed, "S1", lambda q, k: paired(q, k) * q.shape[1] ** 0.5, draw)
    ratios = [Estimate(v.value / d, v.low / d, v.high / d, v.n) for v, d in zip(variances, WIDTHS, strict=True)]
    records = [
        {"d_k": d, "variance": v.value, "low": max(v.low, 1e-3), "high": v.high}
        for v, d in zip(variances, WIDTHS, strict=True)
    ]
    titles = {
        "d_k": Text("numbers of a vector, d_k", "向量维数 d_k"),
        "variance": Text("variance of q·k", "q·k 的方差"),
    }
    numbers = {
        "least_variance_over_d": min(ratios, key=lambda ratio: ratio.value),
        "largest_variance_over_d": max(ratios, key=lambda ratio: ratio.value),
    }
    return Evidence(numbers, records, Figure("line", "d_k", "variance", None, titles, log_x=True, log_y=True))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


_NEAR = Text(
    "2,000 independent products a draw, ten draws: chance keeps the ratio within 5 %; 0.85 and 1.15 leave no room for "
    "another law",
    "每次 2000 个独立的点积、共十次：偶然波动在 5 % 以内；0.85 与 1.15 之间容不下别的规律",
)

CLAIM = Claim(
    id="S1",
    statement=Text(
        "For independent entries of mean 0 and variance 1, the variance of q·k is d_k.",
        "若各分量独立、均值 0、方差 1，则 q·k 的方差是 d_k。",
    ),
    equation="Var(q·k) = Σ Var(q_i k_i) = d_k",
    measured=Text(
        "20,000 pairs of a query and a key for each of eleven widths from 1 to 1,024, with 95 % intervals",
        "从 1 到 1024 的十一种维数，各取 2 万对查询与键，附 95 % 区间",
    ),
    rule=Rule((at_least("least_variance_over_d", 0.85, _NEAR), at_most("largest_variance_over_d", 1.15, _NEAR))),
    reading=Text(
        "Each product of two independent entries has mean 0 and variance 1, and variances of independent terms add. "
        "The "
        "premises are those of the start of training at best: learnt queries and keys depend on each other, which "
        "is their "
        "purpose, and aligned vectors have products that grow as d_k, not as √d_k. Yang et al. (2021) divide by d_k "
        "for that reason.",
        "两个独立分量之积均值 0、方差 1，而独立项的方差相加。这些前提充其量在训练开始时成立：学到的查询与键彼此相关"
        "，这正是它们的用途，"
        "而对齐的向量之点积按 d_k 而不是 √d_k 增长。Yang 等（2021）因此改为除以 d_k。",
    ),
    sources=("Vaswani et al. 2017, §3.2.1, footnote 4", "Yang et al. 2021, Tensor Programs V"),
    run=_run,
)

"""K2: −∞ before the softmax gives 0 after it."""

from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.claims.activations import Activations
from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.small_models import torch_generator
from pellucid.claims.texts import EXACTLY_NONE
from pellucid.layers.attention import attend
from pellucid.layers.masks import causal

__all__ = ["CLAIM", "masked_before", "measure", "zeroed_after"]

Weigh = Callable[[Tensor, Tensor, Tensor], Tensor]
_LENGTH = 8


def masked_before(query: Tensor, key: Tensor, may_attend: Tensor) -> Tensor:
    """Return the weights as the library has them."""
    activations = Activations()
    attend(query, key, key, may_attend, activations)
    return activations["weights"]


def zeroed_after(query: Tensor, key: Tensor, may_attend: Tensor) -> Tensor:
    """Return the weights of all keys, with those that are forbidden set to 0 afterwards."""
    return masked_before(query, key, torch.ones_like(may_attend)).masked_fill(~may_attend, 0.0)


def measure(seed: int, weigh: Weigh = masked_before) -> Evidence:
    """Look at forbidden weights and at the sums of rows; and at those where forbidden weights are zeroed afterwards."""
    q, k = 2 * torch.randn(2, 1, 4, _LENGTH, 16, generator=torch_generator(seed, "K2"))
    mask = causal(_LENGTH)
    ways = {"masked before": weigh(q, k, mask), "zeroed after": zeroed_after(q, k, mask)}
    records = [
        {"row": row + 1, "sum": float(weights[0, 0, row].sum()), "way": name}
        for name, weights in ways.items()
        for row in range(_LENGTH)
    ]
    titles = {"row": Text("query", "查询"), "sum": Text("sum of its weights", "权重之和"), "way": Text("way", "做法")}
    before, after = ways.values()
    numbers = exact_values(
        largest_forbidden_weight=float(before.masked_select(~mask).abs().max()),
        sum_off_one=float((before.sum(-1) - 1).abs().max()),
        sum_off_one_zeroed_after=float((after.sum(-1) - 1).abs().max()),
    )
    return Evidence(numbers, records, Figure("line", "row", "sum", "way", titles))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


CLAIM = Claim(
    id="K2",
    statement=Text("−∞ before the softmax gives 0 after it.", "softmax 之前填 −∞，之后就得 0。"),
    equation="e^(−∞) = 0,  Σ_j A_ij = 1",
    measured=Text(
        "weights under a causal mask: those forbidden, and the sums of rows; and the same with the forbidden ones "
        "zeroed "
        "after the softmax",
        "因果掩码下的权重：被禁止的权重与各行之和；以及改为在 softmax 之后清零时的同样量",
    ),
    rule=Rule(
        (
            at_most("largest_forbidden_weight", 0.0, EXACTLY_NONE),
            at_most(
                "sum_off_one",
                1e-5,
                Text("eight float32 weights sum to 1 within 1e-6", "八个 float32 权重之和与 1 相差不超过 1e-6"),
            ),
            at_least(
                "sum_off_one_zeroed_after",
                0.05,
                Text(
                    "zeroing afterwards must miss the sum visibly, or the order would not matter",
                    "事后清零必须明显使和不为 1，否则先后无关紧要",
                ),
            ),
        )
    ),
    reading=Text(
        "Zeroing afterwards leaves rows that no longer sum to 1, and worse: the forbidden scores have had their "
        "share in "
        "the denominator, so the future still shows through in how small the rest is. The lowest finite number does "
        "as well "
        "as −∞ and spares an empty row its NaN (A2), as long as no real score comes near it.",
        "事后清零的行之和不再为 1；更糟的是被禁止的分数已经进了分母，于是未来仍从其余权重有多小里透出来。用最小有限"
        "数代替 −∞ 效果相同，"
        "还能让空行免于 NaN（A2），只要没有真实分数接近它。",
    ),
    sources=("Vaswani et al. 2017, §3.2.3",),
    run=_run,
)

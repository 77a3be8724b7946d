"""P4: the dot product of two codes sees relative distance."""

import torch

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.positions.p01_sinusoid_formula import Codes
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.small_models import torch_generator
from pellucid.layers.positions import sinusoids

__all__ = ["CLAIM", "measure"]

_D = 64
_ANCHORS = (100, 500, 2_000, 9_000)


def measure(seed: int, codes: Codes = sinusoids) -> Evidence:
    """Multiply codes k apart at several places, to the right and to the left; then through W_Q and W_K."""
    offsets = torch.arange(-60, 61)
    plain = torch.stack([codes(p + offsets, _D) @ codes(torch.tensor([p]), _D)[0] for p in _ANCHORS])
    spread = float((plain.amax(0) - plain.amin(0)).max())
    random = torch_generator(seed, "P4")
    w_q, w_k = torch.randn(2, _D, _D, generator=random, dtype=torch.float64) / _D**0.5
    projected = (codes(_ANCHORS[0] + offsets, _D) @ w_k) @ (w_q.T @ codes(torch.tensor([_ANCHORS[0]]), _D)[0])
    records = [
        {"offset": int(k), "product": float(value), "of": name}
        for name, values in (("codes", plain[0]), ("through W_Q and W_K", projected))
        for k, value in zip(offsets, values, strict=True)
    ]
    titles = {"offset": Text("offset k", "偏移 k"), "product": Text("dot product", "点积"), "of": Text("of", "对象")}
    numbers = exact_values(
        spread_over_positions=spread,
        least_to_greatest_over_offsets=float(plain[0].max() - plain[0].min()),
        left_against_right=float((plain[0] - plain[0].flip(0)).abs().max()),
        left_against_right_through_matrices=float((projected - projected.flip(0)).abs().max()),
    )
    return Evidence(numbers, records, Figure("line", "offset", "product", "of", titles))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


CLAIM = Claim(
    id="P4",
    statement=Text(
        "The dot product of two position codes sees their relative position.", "两个位置编码的点积能看出相对位置。"
    ),
    equation="PE(p) · PE(p + k) = Σ_i cos(ω_i k)",
    measured=Text(
        "products of codes up to 60 apart at four places: how much they differ between places, and between left and "
        "right; "
        "and the same through random W_Q, W_K",
        "四处、相距至多 60 的编码点积：各处之间差多少、左右之间差多少；以及经过随机 W_Q、W_K 后的左右之差",
    ),
    rule=Rule(
        holds=(
            at_most(
                "spread_over_positions",
                1e-9,
                Text(
                    "the same at every place: float64 keeps ten decimals of such sums",
                    "各处相同：float64 对这种和能保持十位小数",
                ),
            ),
            at_least(
                "least_to_greatest_over_offsets",
                1.0,
                Text("the product has to change with the offset at all", "点积必须随偏移而变"),
            ),
        ),
        beyond=(
            at_least(
                "left_against_right",
                1e-3,
                Text(
                    "relative position has a direction: k to the left must differ from k to the right",
                    "相对位置有方向：左边 k 个与右边 k 个必须不同",
                ),
                fails_at=1e-9,
            ),
        ),
        condition=Text(
            "distance is meant, not direction: the cosine is even in k, so the raw product cannot tell left from "
            "right; "
            "W_Q and W_K, which stand between the codes, restore it",
            "说的是距离而非方向：余弦是 k 的偶函数，裸点积分不出左右；夹在中间的 W_Q、W_K 才能恢复方向",
        ),
    ),
    reading=Text(
        "Yan et al. (2019) pointed out both: the product knows how far and not which way, and after two different "
        "projections it need not even decay with distance. So what a head makes of position is learnt, not given. "
        "Relative schemes put the offset into the score itself (Shaw et al. 2018), as rotation (Su et al. 2021) or "
        "as a penalty (Press et al. 2022).",
        "Yan 等（2019）两点都指出过：点积知道多远却不知道哪边，而且经过两个不同的投影后甚至不必随距离衰减。所以一个"
        "头如何利用位置是学来的，不是天生的。"
        "相对位置方案把偏移直接写进分数：加项（Shaw 等 2018）、旋转（Su 等 2021）或惩罚（Press 等 2022）。",
    ),
    sources=("Yan et al. 2019, TENER", "Shaw et al. 2018, Self-Attention with Relative Position Representations"),
    run=_run,
)

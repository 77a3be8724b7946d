"""P8: with rotary positions q·k depends on the offset only."""

from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.small_models import torch_generator
from pellucid.layers.positions import sinusoids
from pellucid.layers.rotary import Rotary, rotary_frequencies

__all__ = ["CLAIM", "measure"]

_D, _LENGTH = 64, 200
Place = Callable[[Tensor, Tensor], Tensor]


def measure(seed: int, turn: Place | None = None) -> Evidence:
    """Put one query and one key at all places of a text, and look along the diagonals of their products."""
    turn = turn or Rotary(rotary_frequencies(_D, 10_000.0))
    random = torch_generator(seed, "P8")
    q, k = torch.randn(2, _D, generator=random)
    positions = torch.arange(_LENGTH)
    many = (1, 1, _LENGTH, _D)
    turned = turn(q.expand(many), positions)[0, 0] @ turn(k.expand(many), positions)[0, 0].T
    codes = sinusoids(positions, _D).float()
    added = (q + codes) @ (k + codes).T
    scale = float(q.norm() * k.norm())
    records = [
        {"position": int(p), "product": float(product[p + 5, p]), "scheme": name}
        for name, product in (("rotary", turned), ("added sinusoids", added))
        for p in range(0, _LENGTH - 5, 5)
    ]
    titles = {
        "position": Text("position of the key (query five further)", "键的位置（查询在其后五位）"),
        "product": Text("q·k", "q·k"),
        "scheme": Text("positions", "位置方案"),
    }
    numbers = exact_values(
        spread_along_diagonals=_spread(turned) / scale,
        change_across_diagonals=float((turned[0] - turned[0, 0]).abs().max()) / scale,
        spread_along_diagonals_of_added_codes=_spread(added) / scale,
    )
    return Evidence(numbers, records, Figure("line", "position", "product", "scheme", titles))


def _spread(products: Tensor) -> float:
    """Return the largest difference of two products of the same offset."""
    spreads = [products.diagonal(offset) for offset in range(1 - _LENGTH, _LENGTH)]
    return max(float(line.max() - line.min()) for line in spreads)


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


CLAIM = Claim(
    id="P8",
    statement=Text("Rotary positions make q·k depend on the offset only.", "旋转位置编码使 q·k 只依赖相对偏移。"),
    equation="⟨R_m q, R_n k⟩ = ⟨q, R_{n−m} k⟩",
    measured=Text(
        "one query and one key at 200 × 200 places: the largest spread along a diagonal, relative to the norms; and "
        "the "
        "same with sinusoids added",
        "一个查询与一个键放在 200×200 个位置上：对角线上的最大起伏（相对范数）；以及相加正弦编码时的同样量",
    ),
    rule=Rule(
        (
            at_most(
                "spread_along_diagonals",
                1e-4,
                Text(
                    "the library's tables of sines are float32: 1e-6 of the norms, a hundred times that is still none",
                    "库中正弦表为 float32，误差约为范数的 1e-6；放宽百倍仍算没有",
                ),
                fails_at=1e-3,
            ),
            at_least(
                "change_across_diagonals",
                0.05,
                Text("between diagonals the product has to change", "不同对角线之间必须有变化"),
            ),
        )
    ),
    reading=Text(
        "Rotations of a plane commute, so the two turns leave only their difference. With codes that are added, "
        "content "
        "meets position in the cross terms, which depend on where the pair stands. The offset is all that the score "
        "can "
        "see, yet a model can still find absolute places: by the causal mask, or by attending to the first token.",
        "同一平面的旋转可交换，所以两次旋转只留下它们的差。相加的编码则会让内容与位置在交叉项里相遇，其值取决于这一"
        "对词站在哪里。"
        "分数只看得到偏移，但模型仍能找到绝对位置：凭因果掩码，或凭对首词的注意。",
    ),
    sources=("Su et al. 2021, RoFormer, §3.2",),
    run=_run,
)

"""P2: every position has its own code."""

import torch

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.positions.p01_sinusoid_formula import Codes
from pellucid.claims.rules import Rule, at_least
from pellucid.layers.positions import sinusoids

__all__ = ["CLAIM", "measure"]

_N, _D, _BLOCK = 10_000, 64, 1_000


def measure(codes: Codes = sinusoids) -> Evidence:
    """Find the two of 10,000 positions whose codes are nearest to each other."""
    table = codes(torch.arange(_N), _D)
    nearest, pair = float("inf"), (0, 0)
    for start in range(0, _N, _BLOCK):
        products = table[start : start + _BLOCK] @ table[start:].T
        # All codes have the same norm, √(D/2), so that the nearest is the one of the largest product.
        squared = table[start : start + _BLOCK].square().sum(1)[:, None] + table[start:].square().sum(1) - 2 * products
        squared.diagonal().fill_(float("inf"))
        flat = int(squared.argmin())
        least = float(squared.flatten()[flat])
        if least < nearest:
            nearest, pair = least, (start + flat // squared.shape[1], start + flat % squared.shape[1])
    offsets = torch.unique(torch.logspace(0, 3.99, 120).long())
    records = [{"offset": int(k), "distance": float((table[k] - table[0]).norm())} for k in offsets]
    titles = {
        "offset": Text("offset of two positions", "两个位置之差"),
        "distance": Text("distance of their codes", "编码之距"),
    }
    numbers = exact_values(
        smallest_distance=max(nearest, 0.0) ** 0.5,
        first_of_nearest=pair[0],
        second_of_nearest=pair[1],
        norm_of_a_code=(_D / 2) ** 0.5,
    )
    return Evidence(numbers, records, Figure("line", "offset", "distance", None, titles, log_x=True))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure()


CLAIM = Claim(
    id="P2",
    statement=Text("Every position has its own code.", "每个位置都有独一无二的编码。"),
    equation="PE(p) ≠ PE(q)  for p ≠ q",
    measured=Text(
        "the smallest distance of two codes among all 50 million pairs of 10,000 positions, D = 64",
        "10000 个位置全部五千万对之间编码的最小距离，D = 64",
    ),
    rule=Rule(
        (
            at_least(
                "smallest_distance",
                0.01,
                Text(
                    "a model must be able to use the difference: 0.01 is 10,000 times float32's rounding of such codes",
                    "模型要能用得上这个差别：0.01 是 float32 表示这种编码之舍入误差的一万倍",
                ),
                fails_at=1e-5,
            ),
        )
    ),
    reading=Text(
        "The fastest frequency turns once in 2π positions, and 2π is irrational, so even it alone never repeats "
        "exactly; with slower ones beside it neighbours of any kind stay well apart. Distinct is not the same as "
        "readable: "
        "how precisely a head can point to a far position depends on the frequencies that it can still tell apart "
        "there.",
        "最快的频率每 2π 个位置转一圈，2π 是无理数，所以单靠它也不会精确重复；再加上较慢的频率，任何两个位置都离得够"
        "远。"
        "“互不相同”并不等于“读得出来”：一个头能多准地指向远处，取决于它在那里还能分辨哪些频率。",
    ),
    sources=("Vaswani et al. 2017, §3.5",),
    run=_run,
)

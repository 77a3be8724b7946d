"""P1: the formula of the sinusoidal codes."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_most
from pellucid.layers.positions import sinusoids

__all__ = ["CLAIM", "Codes", "measure"]

Codes = Callable[[Tensor, int], Tensor]
_D = 64
_PLACES = (0, 1, 2, 3, 10, 100, 1_000, 9_999)


def measure(codes: Codes = sinusoids) -> Evidence:
    """Compare the library's codes with the formula, number by number, written out in plain Python."""
    table = codes(torch.tensor(_PLACES), _D)
    largest = 0.0
    for row, position in enumerate(_PLACES):
        for i in range(_D // 2):
            angle = position / 10_000 ** (2 * i / _D)
            for place, right in ((2 * i, math.sin(angle)), (2 * i + 1, math.cos(angle))):
                largest = max(largest, abs(float(table[row, place]) - right))
    shown = codes(torch.arange(40), _D)
    records = [
        {"position": position, "dimension": place, "code": float(shown[position, place])}
        for position in range(40)
        for place in range(0, _D, 2)
    ]
    titles = {
        "position": Text("position", "位置"),
        "dimension": Text("dimension", "维"),
        "code": Text("code", "编码值"),
    }
    return Evidence(
        exact_values(largest_difference=largest), records, Figure("heat", "dimension", "position", "code", titles)
    )


def _run(budget: Budget, seed: int) -> Evidence:
    return measure()


CLAIM = Claim(
    id="P1",
    statement=Text(
        "Even dimensions of a position code are sines and odd ones cosines of pos / 10000^(2i/D).",
        "位置编码的偶数维是 pos/10000^(2i/D) 的正弦，奇数维是余弦。",
    ),
    equation="PE(pos, 2i) = sin(pos / 10000^(2i/D)),  PE(pos, 2i+1) = cos(pos / 10000^(2i/D))",
    measured=Text(
        "eight positions up to 9,999, D = 64, each number against the formula",
        "八个位置（最大 9999）、D = 64，逐个数与公式对照",
    ),
    rule=Rule(
        (
            at_most(
                "largest_difference",
                1e-9,
                Text(
                    "an angle near 10,000 keeps twelve decimals in float64, its sine too; nine are asked for",
                    "接近 10000 的角度在 float64 中有十二位小数，其正弦亦然；这里要求九位",
                ),
            ),
        )
    ),
    reading=Text(
        "The paper interleaves sines and cosines; many models after it (Marian among them) put all sines first. The "
        "two differ by a fixed permutation of dimensions, which training cannot notice but a weight file does: who "
        "imports one into the other must permute. The paper's own first code, in tensor2tensor, also spaces the "
        "frequencies a little wider, so that the slowest is exactly 1/10,000. Wavelengths run from 2π to nearly "
        "2π · 10,000.",
        "论文把正弦与余弦交错排列；后来许多模型（如 Marian）把正弦全放在前半。两者只差维度的固定置换，"
        "训练察觉不到，权重文件却会：互相导入必须置换。论文自己的最初代码（tensor2tensor）还把频率间隔取得稍大，"
        "使最慢的恰为 1/10000。波长从 2π 到将近 2π·10000。",
    ),
    sources=("Vaswani et al. 2017, §3.5",),
    run=_run,
)

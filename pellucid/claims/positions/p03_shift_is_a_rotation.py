"""P3: moving by k is one fixed rotation per frequency."""

import torch
from torch import Tensor

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.positions.p01_sinusoid_formula import Codes
from pellucid.claims.rules import Rule, at_most
from pellucid.layers.positions import sinusoids

__all__ = ["CLAIM", "measure"]

_D = 64
_PLACES = (0, 1, 7, 100, 1_000, 10_000, 100_000)
_STEPS = (1, 2, 5, 17, 100)


def _rotation(k: int) -> Tensor:
    """Return M_k, [D D]: a rotation by ω_i k in the plane of the i-th sine and cosine."""
    angles = k * 10_000.0 ** (-torch.arange(0, _D, 2, dtype=torch.float64) / _D)
    planes = torch.stack((angles.cos(), angles.sin(), -angles.sin(), angles.cos()), -1).view(-1, 2, 2)
    turn: Tensor = torch.block_diag(*planes)
    return turn


def measure(codes: Codes = sinusoids) -> Evidence:
    """Turn codes by M_k and compare them with the codes k positions further on, in float64 and in float32."""
    records, worst, worst_32, determinants = [], 0.0, 0.0, 0.0
    for k in _STEPS:
        turn = _rotation(k)
        determinants = max(determinants, abs(float(torch.linalg.det(turn)) - 1))
        for position in _PLACES:
            here, there = codes(torch.tensor([position, position + k]), _D)
            error = float((turn @ here - there).abs().max())
            single = float((_in_float32(position, k, turn) - there).abs().max())
            worst, worst_32 = max(worst, error), max(worst_32, single)
            if k == 1 and position:
                records += [
                    {"position": position, "precision": "float64", "error": max(error, 1e-18)},
                    {"position": position, "precision": "float32", "error": max(single, 1e-18)},
                ]
    titles = {
        "position": Text("position", "位置"),
        "error": Text("error after one step", "走一步后的误差"),
        "precision": Text("precision of the angles", "角度的精度"),
    }
    numbers = exact_values(largest_error=worst, determinant_off_one=determinants, largest_error_float32=worst_32)
    return Evidence(numbers, records, Figure("line", "position", "error", "precision", titles, log_x=True, log_y=True))


def _in_float32(position: int, k: int, turn: Tensor) -> Tensor:
    """Return the turned code, of angles that were computed in float32."""
    frequencies = (10_000.0 ** (-torch.arange(0, _D, 2, dtype=torch.float64) / _D)).float()
    angles = torch.tensor(float(position)) * frequencies
    return (turn.float() @ torch.stack((angles.sin(), angles.cos()), -1).flatten()).double()


def _run(budget: Budget, seed: int) -> Evidence:
    return measure()


CLAIM = Claim(
    id="P3",
    statement=Text(
        "Moving by k is one fixed rotation per frequency, whatever the position is.",
        "无论身处何位，移动 k 步都是每个频率上一个固定的旋转。",
    ),
    equation="M_k PE(pos) = PE(pos + k),  det M_k = 1",
    measured=Text(
        "seven positions up to 100,000 and five offsets: M_k, built of k alone, against the code itself; and the "
        "same with "
        "angles in float32",
        "七个位置（最大 100000）与五个偏移：仅由 k 构造的 M_k 作用后与真实编码之差；以及角度用 float32 时的同样比较",
    ),
    rule=Rule(
        (
            at_most(
                "largest_error",
                1e-9,
                Text(
                    "an angle of 100,000 keeps eleven decimals in float64; nine are asked for",
                    "十万大小的角度在 float64 中有十一位小数；这里要求九位",
                ),
            ),
            at_most(
                "determinant_off_one", 1e-9, Text("of a rotation it is 1 to rounding", "旋转的行列式应为 1（仅差舍入）")
            ),
        )
    ),
    reading=Text(
        "This is why sine and cosine go in pairs: the addition theorem makes a shift linear, so one matrix finds “k "
        "to the "
        "left” from anywhere. With angles in float32 the fast frequencies lose a digit for each power of ten of the "
        "position: "
        "the library computes its codes in float64. Rotary positions (Su et al. 2021) make the rotation itself the "
        "code.",
        "这就是正弦余弦必须成对的原因：加法定理使平移成为线性变换，于是一个矩阵在任何位置都能找到“左边第 k 个”。"
        "若角度用 float32，位置每大十倍，快频率就丢一位数字；本库用 float64 计算编码。旋转位置编码（Su 等 2021）干脆"
        "让旋转本身成为编码。",
    ),
    sources=("Vaswani et al. 2017, §3.5", "Su et al. 2021, RoFormer"),
    run=_run,
)

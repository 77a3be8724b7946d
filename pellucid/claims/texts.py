"""Reasons that many thresholds share."""

from pellucid.claims.bilingual import Text

__all__ = ["CLEAR", "EXACTLY_NONE", "ROUNDING_32", "ROUNDING_64", "SEEDS"]

ROUNDING_64 = Text(
    "sums of numbers of order 1 in float64 differ by 1e-13 at most; a thousand times that is still no effect",
    "float64 下量级为 1 的数求和误差不超过 1e-13；放宽到千倍仍算不上效应",
)
ROUNDING_32 = Text(
    "float32 keeps seven digits, and a few hundred terms are summed: differences below 1e-4 are rounding",
    "float32 有七位有效数字，且要把几百项相加：1e-4 以下的差别只是舍入",
)
EXACTLY_NONE = Text("the statement says none, so it is none to the bit", "命题说的是没有，所以必须一位不差地为零")
CLEAR = Text(
    "far above rounding: an effect that is there at all is there by this much",
    "远高于舍入误差：只要真有效应，就至少有这么大",
)
SEEDS = Text(
    "the whole 95 % interval over seeds must lie on this side, so that the difference exceeds the spread",
    "各随机种子的 95 % 区间必须全部落在这一侧，即差别大于波动",
)

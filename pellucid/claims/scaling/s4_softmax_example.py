"""S4: the figures usually given for a softmax of large scores."""

from collections.abc import Callable, Sequence

import torch

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_least, at_most

__all__ = ["CLAIM", "measure", "shares_of"]

_SCORES = (100.0, -20.0, 10.0, -50.0)
_TOLD = (0.9999, 0.0, 0.0001, 0.0)


def shares_of(scores: Sequence[float]) -> list[float]:
    """Return the softmax in float64."""
    shares: list[float] = torch.tensor(scores, dtype=torch.float64).softmax(0).tolist()
    return shares


def measure(softmax: Callable[[Sequence[float]], list[float]] = shares_of) -> Evidence:
    """Compute the example in float64 and in float32."""
    shares = softmax(_SCORES)
    single = torch.tensor(_SCORES).softmax(0).tolist()
    records = [
        {"entry": f"{place + 1}: {score:g}", "which": which, "share": share}
        for which, values in (("told", _TOLD), ("float64", shares))
        for place, (score, share) in enumerate(zip(_SCORES, values, strict=True))
    ]
    titles = {
        "entry": Text("entry and score", "第几项及其分数"),
        "share": Text("share", "份额"),
        "which": Text("figure", "数字"),
    }
    numbers = exact_values(first_off_one=1 - shares[0], third_entry=shares[2], third_entry_float32=single[2])
    return Evidence(numbers, records, Figure("bar", "entry", "share", "which", titles))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure()


CLAIM = Claim(
    id="S4",
    statement=Text(
        "softmax([100, −20, 10, −50]) ≈ [0.9999, 0, 0.0001, 0].",
        "softmax([100, −20, 10, −50]) ≈ [0.9999, 0, 0.0001, 0]。",
    ),
    equation="S_3 = e^(10−100) / (1 + e^(−120) + e^(−90) + e^(−150))",
    measured=Text(
        "the four shares in float64, and the third in float32", "float64 下的四个份额，以及 float32 下的第三个"
    ),
    rule=Rule(
        (
            at_most(
                "first_off_one",
                0.00015,
                Text("0.9999 to the digits given is 0.99985 to 0.99995 or more", "按所给位数，0.9999 至少是 0.99985"),
            ),
            at_least(
                "third_entry",
                0.00005,
                Text("0.0001 to the digit given is 0.00005 to 0.00015", "按所给位数，0.0001 是指 0.00005 到 0.00015"),
            ),
        ),
        instead=Text(
            "the point is right, the figure is not: the third share is e⁻⁹⁰, about 8·10⁻⁴⁰, below the smallest "
            "normal float32; "
            "a gap of 9.2 gives 0.0001",
            "道理对，数字不对：第三个份额是 e⁻⁹⁰，约 8·10⁻⁴⁰，小于 float32 的最小正规数；差 9.2 才会得到 0.0001",
        ),
    ),
    reading=Text(
        "Shares depend on differences only and fall by a factor of e for each point of difference. In float32 such "
        "a share "
        "is subnormal or, where processors flush those, 0, and its derivative with it. So saturation sets in far "
        "earlier "
        "than the example suggests: a lead of 17 is 1 in float32.",
        "份额只取决于差值，差每多 1 就缩小 e 倍。在 float32 中这样的份额是次正规数，或被处理器清为 0，其导数亦然。"
        "所以饱和来得比例子所说的早得多：领先 17 在 float32 中就已经是 1。",
    ),
    sources=("IEEE 754-2019, §3.4",),
    run=_run,
)

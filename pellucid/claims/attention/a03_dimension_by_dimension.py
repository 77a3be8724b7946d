"""A3: values are mixed dimension by dimension."""

from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.small_models import no_mask, torch_generator
from pellucid.claims.texts import EXACTLY_NONE
from pellucid.layers.attention import attend

__all__ = ["CLAIM", "measure"]

Attend = Callable[..., Tensor]
_LENGTH, _D = 5, 6


def measure(seed: int, attention: Attend = attend) -> Evidence:
    """Differentiate the output by the values; and mix two values by 0.8 and 0.2."""
    random = torch_generator(seed, "A3")
    q, k, v = torch.randn(3, 1, 1, _LENGTH, _D, generator=random)
    jacobian = torch.autograd.functional.jacobian(lambda x: attention(q, k, x, no_mask(_LENGTH)), v)
    # [query d_head key d_head]
    derivative = jacobian[0, 0, :, :, 0, 0]
    own = torch.eye(_D, dtype=torch.bool)
    across = derivative.permute(0, 2, 1, 3)[..., ~own]
    along = derivative.permute(0, 2, 1, 3)[..., own]
    # Scores ln 0.8 and ln 0.2, by a key of one number.
    keys = torch.tensor([0.8, 0.2]).log().view(1, 1, 2, 1)
    values = torch.tensor([[1.0, 10.0, -2.0], [6.0, 0.0, 3.0]])
    mixed = attention(torch.ones(1, 1, 1, 1), keys, values[None, None, :, :1], torch.ones(1, 1, 1, 2, dtype=torch.bool))
    right = 0.8 * values[0, 0] + 0.2 * values[1, 0]
    size = derivative.abs().amax((0, 2))
    records = [
        {"value_dimension": i + 1, "output_dimension": j + 1, "derivative": float(size[j, i])}
        for j in range(_D)
        for i in range(_D)
    ]
    titles = {
        "value_dimension": Text("dimension of the value", "值的维"),
        "output_dimension": Text("dimension of the output", "输出的维"),
        "derivative": Text("largest derivative", "最大导数"),
    }
    return Evidence(
        exact_values(
            derivative_across_dimensions=float(across.abs().max()),
            least_largest_derivative_along=float(along.abs().amax(0).min()),
            spread_along_dimensions=float((along.amax(-1) - along.amin(-1)).abs().max()),
            example_off=float((mixed - right).abs().max()),
        ),
        records,
        Figure("heat", "value_dimension", "output_dimension", "derivative", titles),
    )


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


CLAIM = Claim(
    id="A3",
    statement=Text("Mixing happens dimension by dimension.", "加权混合是逐维进行的。"),
    equation="∂out[:, j] / ∂V[:, i] = 0  for i ≠ j",
    measured=Text(
        "all derivatives of one head's output by its values; and the example of weights 0.8 and 0.2",
        "一个头的输出对值的全部导数；以及权重 0.8 与 0.2 的例子",
    ),
    rule=Rule(
        (
            at_most("derivative_across_dimensions", 0.0, EXACTLY_NONE),
            at_least(
                "least_largest_derivative_along",
                1e-3,
                Text("within a dimension the value must arrive", "同一维内，值必须传得到"),
            ),
            at_most(
                "spread_along_dimensions",
                1e-5,
                Text("one weight serves all dimensions, to rounding", "同一个权重用于所有维，仅差舍入"),
            ),
            at_most("example_off", 1e-5, Text("0.8 · 1 + 0.2 · 6 = 2, to rounding", "0.8·1 + 0.2·6 = 2，仅差舍入")),
        )
    ),
    reading=Text(
        "A head moves whole vectors, weighted, and turns nothing: dimensions meet only in W_V before and W_O after. "
        "So for "
        "fixed weights a head is linear in its values, and W_V W_O can be read as one map of what it writes (Elhage "
        "et al. 2021).",
        "一个头只是把整个向量按权搬运，不做任何旋转；维与维只在之前的 W_V 和之后的 W_O 里相遇。所以权重固定时头对值"
        "是线性的，"
        "W_V W_O 可以当作它所写内容的一个映射来读（Elhage 等 2021）。",
    ),
    sources=("Vaswani et al. 2017, eq. 1", "Elhage et al. 2021"),
    run=_run,
)

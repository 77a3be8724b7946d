"""A2: the weights of a row are a distribution."""

from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.claims.activations import Activations
from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.small_models import torch_generator
from pellucid.layers.attention import attend

__all__ = ["CLAIM", "measure"]

Attend = Callable[..., Tensor]
_LENGTH = 10


def measure(seed: int, attention: Attend = attend) -> Evidence:
    """Look at the weights of rows of which more and more is masked, up to everything."""
    random = torch_generator(seed, "A2")
    q, k, v = 3 * torch.randn(3, 1, 2, _LENGTH, 16, generator=random)
    mask = torch.ones(_LENGTH, _LENGTH, dtype=torch.bool).tril(-1)[None, None]  # the first row may look at nothing
    activations = Activations()
    mixed = attention(q, k, v, mask, activations)
    weights = activations["weights"]
    sums = weights.sum(-1)
    records = [
        {"allowed": row, "head": str(head), "sum": float(sums[0, head, row])}
        for head in range(2)
        for row in range(_LENGTH)
    ]
    titles = {
        "allowed": Text("keys that may be looked at", "允许看的键数"),
        "sum": Text("sum of the row", "该行之和"),
        "head": Text("head", "头"),
    }
    return Evidence(
        exact_values(
            sum_off_one=float((sums[..., 1:] - 1).abs().max()),
            smallest_weight=float(weights.min()),
            not_a_number=int((~torch.isfinite(weights)).sum() + (~torch.isfinite(mixed)).sum()),
            sum_off_one_where_nothing_is_allowed=float((sums[..., 0] - 1).abs().max()),
            output_where_nothing_is_allowed=float(mixed[:, :, 0].abs().max()),
        ),
        records,
        Figure("line", "allowed", "sum", "head", titles),
    )


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


_ONE = Text("ten weights in float32 sum to 1 within 1e-6", "十个 float32 权重之和与 1 相差不超过 1e-6")

CLAIM = Claim(
    id="A2",
    statement=Text("The weights of a row are a distribution.", "每一行权重都是一个概率分布。"),
    equation="Σ_j A_ij = 1,  A_ij ≥ 0",
    measured=Text(
        "rows that may look at 1 to 9 keys, and one that may look at none", "可看 1 到 9 个键的行，以及一个都不能看的行"
    ),
    rule=Rule(
        holds=(
            at_most("sum_off_one", 1e-5, _ONE),
            at_least("smallest_weight", 0.0, Text("a share cannot be negative", "份额不能为负")),
            at_most("not_a_number", 0, Text("no row may be undefined", "任何一行都必须有定义")),
        ),
        beyond=(at_most("sum_off_one_where_nothing_is_allowed", 1e-5, _ONE),),
        condition=Text(
            "there is something to attend to; a row with nothing allowed is zeros here, and adds nothing to the stream",
            "至少有一个可看的键；一个都不能看的行在这里全为零，对残差流没有贡献",
        ),
    ),
    reading=Text(
        "With everything at −∞ the softmax is 0/0, and many programs then fill the row with NaN or, masking by a "
        "large "
        "negative number, share it out equally over what was forbidden. Such rows occur: padding on the left of a "
        "text under a causal mask, or an empty source. "
        "That every other row must sum to 1 has a price of its own: a head with nothing to say parks its "
        "weight on "
        "the first token, the attention sink (Xiao et al. 2024).",
        "全部为 −∞ 时 softmax 是 0/0，许多程序会得到整行 NaN，或者（若用很大的负数做掩码）把权重平均分给被禁止的位置。"
        "这种行确会出现：因果掩码下补在左边的填充，或空的源句。"
        "其他各行必须和为 1 也有代价：无话可说的头会把权重停放在首词上，即注意力"
        "汇（Xiao 等 2024）。",
    ),
    sources=(
        "Vaswani et al. 2017, eq. 1",
        "Xiao et al. 2024, Efficient Streaming Language Models with Attention Sinks",
    ),
    run=_run,
)

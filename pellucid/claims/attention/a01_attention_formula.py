"""A1: softmax(QKᵀ/√d)V, shown and computed alike."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_most
from pellucid.claims.small_models import torch_generator
from pellucid.layers.attention import attend
from pellucid.layers.masks import causal

__all__ = ["CLAIM", "measure"]

Attend = Callable[..., Tensor]
_KINDS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def _masks(random: torch.Generator) -> dict[str, Tensor]:
    length = 12
    some = torch.rand(2, 1, length, length, generator=random) > 0.4
    return {
        "none": torch.ones(1, 1, length, length, dtype=torch.bool),
        "causal": causal(length),
        "padding": torch.arange(length)[None, None, None] < torch.tensor([length, 5]).view(2, 1, 1, 1),
        "at random": some | torch.eye(length, dtype=torch.bool),
    }


def measure(seed: int, looked_into: Attend = attend) -> Evidence:
    """Compare attention with a tap, without one, PyTorch's fused kernel, and the formula written out in float64."""
    random, records = torch_generator(seed, "A1"), []
    worst = dict.fromkeys(("float32", "bfloat16"), 0.0)
    for name, mask in _masks(random).items():
        q, k, v = torch.randn(3, 2, 4, 12, 16, generator=random)
        for kind, dtype in _KINDS.items():
            q_, k_, v_ = (x.to(dtype) for x in (q, k, v))
            a, b, c = (x.double() for x in (q_, k_, v_))
            scores = (a @ b.transpose(-1, -2) / 16**0.5).masked_fill(~mask, float("-inf"))
            formula = scores.softmax(-1) @ c
            activations: list[str] = []
            paths = {
                "looked into": looked_into(
                    q_, k_, v_, mask, lambda name, x, activations=activations: (activations.append(name), x)[1]
                ),
                "not looked into": attend(q_, k_, v_, mask),
                "fused": F.scaled_dot_product_attention(q_, k_, v_, attn_mask=mask),
            }
            for path, result in paths.items():
                error = float((result.double() - formula).abs().max())
                records.append({"mask": name, "path": path, "precision": kind, "error": error})
                worst[kind] = max(worst[kind], error)
    titles = {
        "mask": Text("mask", "掩码"), "error": Text("largest difference from the formula", "与公式的最大差"),
        "path": Text("path", "计算路径"), "precision": Text("precision", "精度"),
    }  # fmt: skip
    numbers = exact_values(largest_difference_float32=worst["float32"], largest_difference_bfloat16=worst["bfloat16"])
    return Evidence(numbers, records, Figure("bar", "mask", "error", "path", titles, column="precision"))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


CLAIM = Claim(
    id="A1",
    statement=Text("Attention is softmax(QKᵀ/√d_k)V.", "注意力就是 softmax(QKᵀ/√d_k)V。"),
    equation="softmax(Q Kᵀ / √d_k) V",
    measured=Text(
        "the path that is looked into, the one that is not, and PyTorch's fused kernel against the formula in "
        "float64; four "
        "kinds of mask, float32 and bfloat16",
        "可查看的路径、普通路径和 PyTorch 融合核，与 float64 公式对照；四种掩码，float32 与 bfloat16",
    ),
    rule=Rule(
        (
            at_most(
                "largest_difference_float32",
                1e-5,
                Text("float32 keeps seven digits of numbers of order 1", "量级为 1 的数在 float32 中有七位数字"),
            ),
            at_most(
                "largest_difference_bfloat16",
                0.05,
                Text(
                    "bfloat16 keeps two to three digits, and weights and values are both rounded",
                    "bfloat16 只有两三位数字，权重与值都要舍入",
                ),
            ),
        )
    ),
    reading=Text(
        "What is drawn is what is computed: the explicit path, which keeps scores and weights, and the fused one, "
        "which "
        "never writes them down (Dao et al. 2022), agree to rounding. Fused kernels differ in the order of their "
        "sums, so "
        "the last digits differ, and with them, rarely, a choice between two nearly equal words.",
        "画出来的就是算出来的：显式路径保留分数与权重，融合路径从不写下它们（Dao 等 2022），两者只差舍入。"
        "融合核的求和次序不同，所以末位数字不同，偶尔会因此在两个几乎同分的词之间做出不同选择。",
    ),
    sources=("Vaswani et al. 2017, eq. 1", "Dao et al. 2022, FlashAttention"),
    run=_run,
)

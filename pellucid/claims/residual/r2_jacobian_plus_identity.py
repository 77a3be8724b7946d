"""R2: the derivative of F(x) + x is F′ + 1."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_most
from pellucid.claims.small_models import torch_generator
from pellucid.layers.block import PostNorm, PreNorm
from pellucid.layers.feed_forward import FeedForward
from pellucid.models.initialise import init_weights

__all__ = ["CLAIM", "measure"]

_D = 16


def measure(seed: int, around: type[PreNorm] = PreNorm) -> Evidence:
    """Differentiate a block with its residual sum, and what is inside it; and a block with its norm after the sum."""
    part = FeedForward(_D, 4 * _D, True, nn.GELU()).double()
    init_weights(part, seed, residual_scale=1.0)
    x = torch.randn(_D, generator=torch_generator(seed, "R2"), dtype=torch.float64)
    pre, post = around(nn.LayerNorm(_D), 0.0).double(), PostNorm(nn.LayerNorm(_D), 0.0).double()
    identity = torch.eye(_D, dtype=torch.float64)

    def jacobian(f: Callable[[Tensor], Tensor], at: Tensor) -> Tensor:
        found: Tensor = torch.autograd.functional.jacobian(f, at)
        return found

    of_block = jacobian(lambda z: pre(z[None, None], part)[0, 0], x)
    of_part = jacobian(lambda z: part(pre.norm(z[None, None]))[0, 0], x)
    of_post_block = jacobian(lambda z: post(z[None, None], part)[0, 0], x)
    of_post_part = jacobian(lambda z: part(z[None, None])[0, 0], x)
    off = (of_block - of_part - identity).abs().max()
    off_post = (of_post_block - of_post_part - identity).abs().max()
    through_norm = jacobian(lambda z: post.norm(z), x + part(x[None, None])[0, 0])
    mended = (of_post_block - through_norm @ (of_post_part + identity)).abs().max()
    records = [
        {"from": i + 1, "to": j + 1, "difference": float((of_block - of_part)[j, i])}
        for i in range(_D)
        for j in range(_D)
    ]
    titles = {
        "from": Text("dimension of x", "x 的维"),
        "to": Text("dimension of the output", "输出的维"),
        "difference": Text("J − J_F", "J − J_F"),
    }
    numbers = exact_values(
        off_identity=float(off), off_identity_with_norm_after=float(off_post), off_with_the_norms_jacobian=float(mended)
    )
    return Evidence(numbers, records, Figure("heat", "from", "to", "difference", titles))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


_SAME = Text("J − J_F must be the identity to rounding in float64", "J − J_F 必须是单位矩阵，仅差 float64 舍入")

CLAIM = Claim(
    id="R2",
    statement=Text("The derivative of F(x) + x is F′ + 1.", "F(x) + x 的导数是 F′ + 1。"),
    equation="J = J_F + I",
    measured=Text(
        "the Jacobian of a block of 16 dimensions less that of what it adds; norm before the part, and norm after "
        "the sum",
        "16 维块的雅可比矩阵减去其所加部分的雅可比矩阵；归一化在前与在求和之后各一次",
    ),
    rule=Rule(
        holds=(at_most("off_identity", 1e-10, _SAME),),
        beyond=(at_most("off_identity_with_norm_after", 1e-10, _SAME, fails_at=1e-3),),
        condition=Text(
            "no norm follows the sum (pre-norm); post-norm, as in the paper of 2017, multiplies J_F + I by the "
            "norm's Jacobian",
            "求和之后没有归一化（pre-norm）；2017 年论文的 post-norm 要再乘以归一化的雅可比矩阵",
        ),
    ),
    reading=Text(
        "The identity is what a pre-norm network keeps from bottom to top, and what a post-norm one loses at each "
        "layer: "
        "there the first gradients are large near the output, and training wants a warm-up (Xiong et al. 2020). He et "
        "al. "
        "(2016b) found the same of image networks and moved everything off the path of the sum.",
        "pre-norm 网络从底到顶都保留这个单位矩阵，post-norm 则每层都要失去一些："
        "那里起初靠近输出的梯度很大，训练需要预热（Xiong 等 2020）。"
        "He 等（2016b）在图像网络上发现同样的事，于是把一切都移出求和通路。",
    ),
    sources=(
        "He et al. 2016b, Identity Mappings in Deep Residual Networks",
        "Xiong et al. 2020, On Layer Normalization in the Transformer Architecture",
    ),
    run=_run,
)

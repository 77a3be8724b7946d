"""R2: the derivative of F(x) + x is F′ + 1."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from pellucid.claims.claim import Setup, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import torch_generator
from pellucid.layers.block import PostNorm, PreNorm
from pellucid.layers.feed_forward import FeedForward
from pellucid.models.initialise import init_weights

__all__ = ["CLAIM", "measure"]

_D = 16


def measure(setup: Setup, around: type[PreNorm] = PreNorm) -> Evidence:
    """Compare the Jacobians of a pre-norm block and of the part inside it, and the same for post-norm."""
    part = FeedForward(_D, 4 * _D, True, nn.GELU()).double()
    init_weights(part, setup.seed, residual_scale=1.0)
    x = torch.randn(_D, generator=torch_generator(setup.seed, "R2"), dtype=torch.float64)
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
    numbers = exact_values(
        difference_from_identity=float(off),
        difference_from_identity_post_norm=float(off_post),
        difference_with_norm_jacobian=float(mended),
    )
    return Evidence(numbers, records, Figure("heat", "from", "to", "difference"))


CLAIM = claim(
    measure,
    at_most("difference_from_identity", 1e-10),
    outside=(at_most("difference_from_identity_post_norm", 1e-10, fails_at=1e-3),),
)

"""Blocks that hand on what their parts make of the stream, without the stream itself."""

from jaxtyping import Float
from torch import Tensor, nn

from pellucid.layers.block import PreNorm, Sublayer, cast_for_matmul

__all__ = ["WithoutResidual", "without_residual"]


class WithoutResidual(PreNorm):
    """part(norm(x)): `PreNorm` without its `x +`."""

    def forward(self, x: Float[Tensor, "batch seq d_model"], part: Sublayer) -> Float[Tensor, "batch seq d_model"]:
        """Return what the part makes of the normalised stream."""
        return self.dropout(part(cast_for_matmul(self.norm(x))))


def without_residual(model: nn.Module) -> nn.Module:
    """Take the residual sum out of every block of a model, its norms and parts stay; return the model."""
    for part in list(model.modules()):
        for name, child in list(part.named_children()):
            if isinstance(child, PreNorm) and not isinstance(child, WithoutResidual):
                plain = WithoutResidual(nn.Identity(), 0.0)
                plain.norm, plain.dropout = child.norm, child.dropout
                setattr(part, name, plain)
    return model

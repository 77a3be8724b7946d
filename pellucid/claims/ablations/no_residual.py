"""Blocks without a residual connection."""

from jaxtyping import Float
from torch import Tensor, nn

from pellucid.layers.block import PreNorm, Sublayer, cast_for_matmul

__all__ = ["WithoutResidual", "without_residual"]


class WithoutResidual(PreNorm):
    """part(norm(x)): `PreNorm` without its `x +`."""

    def forward(self, x: Float[Tensor, "batch seq d_model"], part: Sublayer) -> Float[Tensor, "batch seq d_model"]:
        """Apply the part to the normalized stream."""
        return self.dropout(part(cast_for_matmul(self.norm(x))))


def without_residual(model: nn.Module) -> nn.Module:
    """Remove the residual connection from every block of a model in place, keeping norms and parts."""
    for part in list(model.modules()):
        for name, child in list(part.named_children()):
            if isinstance(child, PreNorm) and not isinstance(child, WithoutResidual):
                plain = WithoutResidual(nn.Identity(), 0.0)
                plain.norm, plain.dropout = child.norm, child.dropout
                setattr(part, name, plain)
    return model

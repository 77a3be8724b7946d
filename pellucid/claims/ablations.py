"""Ablations: real parts of the models with one idea removed, for experiments only."""

from jaxtyping import Float
from torch import Tensor, nn

from pellucid.layers.attention import Attention, Rotate
from pellucid.layers.block import PreNorm, Sublayer, cast_for_matmul

__all__ = ["WithoutResidual", "tie_queries_and_keys", "without_residual", "without_scaling"]


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


def tie_queries_and_keys(model: nn.Module) -> nn.Module:
    """Make every attention of a model use one projection for queries and keys (W_Q = W_K), in place."""
    for part in model.modules():
        if isinstance(part, Attention):
            part.key = part.query
    return model


def without_scaling(model: nn.Module) -> nn.Module:
    """Make every attention of a model compute scores as Q Kᵀ, in place."""
    for part in model.modules():
        if isinstance(part, Attention):
            rotate = part.rotate
            # A module must be deleted before a plain object can take its name.
            if isinstance(rotate, nn.Module):
                del part.rotate
            part.rotate = _Stretched(rotate)
    return model


class _Stretched:
    """Rotate, then multiply by ⁴√d_head: for query and key together this undoes the division by √d_head."""

    def __init__(self, rotate: Rotate) -> None:
        self.rotate = rotate

    def __call__(self, x: Tensor, positions: Tensor) -> Tensor:
        stretched: Tensor = self.rotate(x, positions) * x.shape[-1] ** 0.25
        return stretched

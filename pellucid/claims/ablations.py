"""Ablations: real parts of the models with one idea removed, for experiments only."""

from jaxtyping import Float
from torch import Tensor, nn

from pellucid.layers.attention import Attention
from pellucid.layers.block import PostNorm, PreNorm, Sublayer, cast_for_matmul
from pellucid.layers.positions import AttentionPositions

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
            if isinstance(child, PreNorm | PostNorm) and not isinstance(child, WithoutResidual):
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
    for part in list(model.modules()):
        if isinstance(part, Attention):
            part.positions = _Stretched(part.positions)
    return model


class _Stretched(AttentionPositions):
    """Rotate, then multiply by ⁴√d_head: for query and key together this undoes the division by √d_head."""

    def __init__(self, positions: AttentionPositions) -> None:
        super().__init__()
        self.positions = positions

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        """Rotate and stretch."""
        stretched: Tensor = self.positions.rotate(x, positions) * x.shape[-1] ** 0.25
        return stretched

    def score_bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor | None:
        """Bias the scores as before."""
        return self.positions.score_bias(query_positions, key_positions)

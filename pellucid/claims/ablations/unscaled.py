"""Attention without the division by √d_head."""

from torch import Tensor, nn

from pellucid.layers.attention import Attention, Rotate

__all__ = ["without_scaling"]


class _Stretched:
    """Turn, then multiply by ⁴√d_head: of query and key together it takes the division by √d_head back."""

    def __init__(self, rotate: Rotate) -> None:
        self.rotate = rotate

    def __call__(self, x: Tensor, positions: Tensor) -> Tensor:
        stretched: Tensor = self.rotate(x, positions) * x.shape[-1] ** 0.25
        return stretched


def without_scaling(model: nn.Module) -> nn.Module:
    """Let every attention of a model score by Q Kᵀ alone; return the model."""
    for part in model.modules():
        if isinstance(part, Attention):
            rotate = part.rotate
            # A module that is replaced has to be forgotten as one first.
            if isinstance(rotate, nn.Module):
                del part.rotate
            part.rotate = _Stretched(rotate)
    return model

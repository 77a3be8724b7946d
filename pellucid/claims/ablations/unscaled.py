"""Attention without the division by √d_head."""

from torch import Tensor, nn

from pellucid.layers.attention import Attention, Rotate

__all__ = ["without_scaling"]


class _Stretched:
    """Rotate, then multiply by ⁴√d_head: for query and key together this undoes the division by √d_head."""

    def __init__(self, rotate: Rotate) -> None:
        self.rotate = rotate

    def __call__(self, x: Tensor, positions: Tensor) -> Tensor:
        stretched: Tensor = self.rotate(x, positions) * x.shape[-1] ** 0.25
        return stretched


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

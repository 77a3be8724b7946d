"""Taps for experiments: one that records activations, and one to differentiate by."""

from torch import Tensor

__all__ = ["Activations", "Leaf"]


class Activations(dict[str, Tensor]):
    """A tap that records activations and changes nothing: `model(ids, activations := Activations())`."""

    def __call__(self, name: str, x: Tensor) -> Tensor:
        """Record `x` under its name."""
        self[name] = x
        return x


class Leaf:
    """A tap that cuts one activation off from what came before, so that outputs can be differentiated by it.

    Attributes:
        value: the activation, after the forward pass.
    """

    value: Tensor

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, name: str, x: Tensor) -> Tensor:
        """Make `x` a leaf if it is the activation."""
        if name == self.name:
            x = self.value = x.detach().requires_grad_()
        return x

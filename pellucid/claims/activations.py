"""The activations of a forward pass, by the names of their taps."""

from torch import Tensor

__all__ = ["Activations"]


class Activations(dict[str, Tensor]):
    """A tap that records activations and changes nothing: `model(ids, activations := Activations())`."""

    def __call__(self, name: str, x: Tensor) -> Tensor:
        """Record `x` under its name."""
        self[name] = x
        return x

"""What an experiment sees of a model: every number of a forward pass, by the name of its tap."""

from torch import Tensor

__all__ = ["Activations"]


class Activations(dict[str, Tensor]):
    """A tap that keeps what it is shown and changes nothing: `model(ids, activations := Activations())`, then `activations[name]`."""

    def __call__(self, name: str, x: Tensor) -> Tensor:
        """Keep `x` under its name and return it."""
        self[name] = x
        return x

"""Taps: how a number inside a forward pass is recorded or changed, by name, without a second copy of the model.

A forward pass calls `scores = tap("scores", scores)`. The default `keep` returns its argument, so an untapped run
costs nothing; a recording tap stores it; a patching tap returns something else.
"""

from collections.abc import Callable

from torch import Tensor

__all__ = ["Tap", "keep", "scoped"]

Tap = Callable[[str, Tensor], Tensor]


def keep(name: str, x: Tensor) -> Tensor:
    """Return `x`: the tap of a run that nobody looks into."""
    return x


def scoped(tap: Tap, scope: str) -> Tap:
    """Return `tap` with every name prefixed by `scope.`; `keep` itself when nobody looks."""
    if tap is keep:
        return keep
    return lambda name, x: tap(f"{scope}.{name}", x)

"""Taps: how a number inside a forward pass is recorded or changed, by name, without a second copy of the model.

A forward pass calls `scores = tap("scores", scores)`. The default `keep` returns its argument, so an untapped run
costs nothing; a recording tap stores it; a patching tap returns something else.
"""

from collections.abc import Callable, Iterable

from torch import Tensor

__all__ = ["SelectiveTap", "Tap", "keep", "scoped"]

Tap = Callable[[str, Tensor], Tensor]


def keep(name: str, x: Tensor) -> Tensor:
    """Return `x`: the tap of a run that nobody looks into."""
    return x


class SelectiveTap:
    """A tap for a few names; every part of the model without one of them runs as if nobody looked.

    Args:
        names: full names, such as `decoder.0.cross_attention.weights`.
        tap: called with the part of the name that is left below the scope, for these names only.
    """

    def __init__(self, names: Iterable[str], tap: Tap) -> None:
        self.names = frozenset(names)
        self.tap = tap

    def __call__(self, name: str, x: Tensor) -> Tensor:
        """Hand `x` to the tap if its name was asked for."""
        return self.tap(name, x) if name in self.names else x

    def within(self, scope: str) -> Tap:
        """Return the tap for a part of the model: `keep` if no asked name lies in it."""
        inner = {name.removeprefix(f"{scope}.") for name in self.names if name.startswith(f"{scope}.")}
        return SelectiveTap(inner, lambda name, x: self.tap(f"{scope}.{name}", x)) if inner else keep


def scoped(tap: Tap, scope: str) -> Tap:
    """Return `tap` with every name prefixed by `scope.`; `keep` itself when nobody looks there."""
    if tap is keep:
        return keep
    if isinstance(tap, SelectiveTap):
        return tap.within(scope)
    return lambda name, x: tap(f"{scope}.{name}", x)

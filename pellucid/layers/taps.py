"""Taps: record or change a tensor inside a forward pass, by name.

A forward pass calls `scores = tap("scores", scores)`. The default `keep` returns its argument, so an untapped run
costs nothing; a recording tap stores the tensor; a patching tap returns another one. Each module declares its taps in
a table of `TapInfo` beside it; docs/taps.md and the labels of recorded arrays come from these tables.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from torch import Tensor

__all__ = ["SelectiveTap", "Tap", "TapInfo", "keep", "scope_taps", "scoped"]

Tap = Callable[[str, Tensor], Tensor]


class TapInfo(NamedTuple):
    """Description of the tensor that a tap receives.

    Attributes:
        name: as passed to the tap, such as `scores`; `N` stands for the number of a layer.
        meaning: what the numbers are.
        axes: names of the axes, separated by spaces.
        unit: nats or share; a dash for coordinates of the model's own space, which have no unit.
    """

    name: str
    meaning: str
    axes: str
    unit: str = "–"


def keep(name: str, x: Tensor) -> Tensor:
    """Return `x` unchanged: the default tap."""
    return x


class SelectiveTap:
    """A tap for a few names; modules that contain none of them take their fast path.

    Args:
        names: full names, such as `decoder.0.cross_attention.weights`.
    """

    def __init__(self, names: Iterable[str], tap: Tap) -> None:
        self.names = frozenset(names)
        self.tap = tap

    def __call__(self, name: str, x: Tensor) -> Tensor:
        """Pass `x` to the tap if its name is one of `names`."""
        return self.tap(name, x) if name in self.names else x

    def within(self, scope: str) -> Tap:
        """Narrow the tap to a submodule; `keep` if it contains none of the names."""
        inner = {name.removeprefix(f"{scope}.") for name in self.names if name.startswith(f"{scope}.")}
        return SelectiveTap(inner, lambda name, x: self.tap(f"{scope}.{name}", x)) if inner else keep


def scoped(tap: Tap, scope: str) -> Tap:
    """Prefix every name with `scope.`; `keep` if nothing is tapped there."""
    if tap is keep:
        return keep
    if isinstance(tap, SelectiveTap):
        return tap.within(scope)
    return lambda name, x: tap(f"{scope}.{name}", x)


def scope_taps(scope: str, taps: Iterable[TapInfo]) -> tuple[TapInfo, ...]:
    """Prefix the names of declared taps with `scope.`."""
    return tuple(tap._replace(name=f"{scope}.{tap.name}") for tap in taps)

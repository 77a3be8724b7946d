"""Numbers with names on their axes and on every place of an axis."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, SupportsIndex

import numpy
from numpy.typing import NDArray

from pellucid.errors import UserError

__all__ = ["Array", "Axis", "LabelledArray", "numbered_axis", "stacked"]

Array = NDArray[Any]


@dataclass(frozen=True)
class Axis:
    """One direction of an array.

    Attributes:
        name: what it counts: query, key, heads, d_model …
        labels: what stands at each place; not unique where a text holds a token twice.
    """

    name: str
    labels: tuple[str, ...]


@cache
def numbered_axis(name: str, count: int, start: int = 0) -> Axis:
    """Build an axis whose entries are numbered."""
    return Axis(name, tuple(map(str, range(start, start + count))))


@dataclass(frozen=True, eq=False)
class LabelledArray:
    """An array that says what it is; `numpy.asarray(it)` is the numbers alone.

    Attributes:
        name: as it is tapped (`encoder.0.self_attention.weights`) or derived.
        values: the numbers.
        axes: one for each dimension.
        unit: nats, share …; a dash for coordinates of the model's own space, which have none.
        meaning: what it is, in words.
        made_in: the line of the code that made it.
    """

    name: str
    values: Array
    axes: tuple[Axis, ...]
    unit: str = "–"
    meaning: str = ""
    code_location: str = ""

    def __post_init__(self) -> None:
        sizes = tuple(len(axis.labels) for axis in self.axes)
        assert sizes == self.values.shape, f"{self.name}: labels for {sizes}, numbers for {self.values.shape}"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy:
            return self.values.astype(dtype or self.values.dtype, copy=True)
        return self.values if dtype is None else self.values.astype(dtype, copy=False)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{axis.name} {len(axis.labels)}" for axis in self.axes)
        unit = "" if self.unit == "–" else f", {self.unit}"
        return f"LabelledArray({self.name!r}: [{sizes}]{unit})"

    def __getitem__(self, index: Any) -> "LabelledArray":
        """Return a part, by numbers and slices as NumPy takes them; axes of one number fall away."""
        places = index if isinstance(index, tuple) else (index,)
        if Ellipsis in places:
            at = places.index(Ellipsis)
            fill = (slice(None),) * (self.values.ndim - len(places) + 1)
            places = (*places[:at], *fill, *places[at + 1 :])
        places = (*places, *(slice(None),) * (self.values.ndim - len(places)))
        if len(places) > self.values.ndim:
            raise IndexError(f"{self.name} has {self.values.ndim} axes, got {len(places)} indices")
        values, axes, dimension = self.values, [], 0
        for axis, place in zip(self.axes, places, strict=True):
            if isinstance(place, SupportsIndex) and not isinstance(place, bool):
                values = values.take(place.__index__(), axis=dimension)
                continue
            chosen = numpy.arange(len(axis.labels))[place]
            values = values.take(chosen, axis=dimension)
            axes.append(Axis(axis.name, tuple(axis.labels[i] for i in chosen)))
            dimension += 1
        return replace(self, values=values, axes=tuple(axes))

    def __float__(self) -> float:
        return float(self.values)

    @property
    def shape(self) -> tuple[int, ...]:
        """Size of each axis."""
        return self.values.shape

    def axis(self, name: str) -> int:
        """Return which dimension an axis is.

        Raises:
            UserError: if there is none of that name.
        """
        names = [axis.name for axis in self.axes]
        if name not in names:
            raise UserError(f"{self.name} has no axis {name}", where=name, hint=f"It has {', '.join(names) or 'none'}.")
        return names.index(name)

    def labels(self, name: str) -> tuple[str, ...]:
        """Get the labels along an axis."""
        return self.axes[self.axis(name)].labels

    def at(self, **places: int | str | slice) -> "LabelledArray":
        """Return a part by the names of axes: `weights.at(heads=3, query="cat")`; a label stands for its first place.

        Raises:
            UserError: if there is no such axis or label.
        """
        index: list[int | slice] = [slice(None)] * self.values.ndim
        for name, place in places.items():
            dimension = self.axis(name)
            if isinstance(place, str):
                labels = self.axes[dimension].labels
                if place not in labels:
                    raise UserError(
                        f"nothing on axis {name} of {self.name} is called {place!r}",
                        where=name,
                        hint=f"The labels are {', '.join(labels[:20])}.",
                    )
                place = labels.index(place)
            index[dimension] = place
        return self[tuple(index)]

    def mean(self, name: str) -> "LabelledArray":
        """Return the mean along an axis, which falls away."""
        dimension = self.axis(name)
        return replace(
            self,
            values=self.values.mean(dimension),
            axes=self.axes[:dimension] + self.axes[dimension + 1 :],
            meaning=f"mean over {name}: {self.meaning}",
        )

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it; what is no finite number is null."""
        return {
            "name": self.name,
            "unit": self.unit,
            "meaning": self.meaning,
            "code_location": self.code_location,
            "axes": [{"name": axis.name, "labels": list(axis.labels)} for axis in self.axes],
            "values": _finite(self.values.tolist()),
        }


def stacked(name: str, arrays: Sequence[LabelledArray], along: Axis) -> LabelledArray:
    """Return equal-shaped arrays as one, with a new first axis."""
    first = arrays[0]
    return replace(first, name=name, values=numpy.stack([one.values for one in arrays]), axes=(along, *first.axes))


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(one) for one in value]
    if isinstance(value, float) and not numpy.isfinite(value):
        return None
    return value

"""Arrays with named axes and a label for every entry along an axis."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, SupportsIndex

import numpy
from numpy.typing import NDArray

from pellucid.errors import UserError, did_you_mean

__all__ = ["Array", "Axis", "LabelledArray", "numbered_axis"]

Array = NDArray[Any]


@dataclass(frozen=True)
class Axis:
    """An axis of an array.

    Attributes:
        name: query, key, heads, d_model …
        labels: of its entries; not unique where a text has a token twice.
    """

    name: str
    labels: tuple[str, ...]


@cache
def numbered_axis(name: str, count: int, start: int = 0) -> Axis:
    """Build an axis whose entries are numbered."""
    return Axis(name, tuple(map(str, range(start, start + count))))


@dataclass(frozen=True, eq=False)
class LabelledArray:
    """An array that says what it is; `numpy.asarray(it)` is a plain array.

    Attributes:
        name: of the tap (`encoder.0.self_attention.weights`) or of the derived quantity.
        unit: nats, share …; a dash for coordinates of the model's own space, which have no unit.
        code_location: the line of code that computes them; empty for derived quantities.
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
        """Select a part by integers and slices as in NumPy; an axis with an integer is dropped."""
        items = index if isinstance(index, tuple) else (index,)
        if Ellipsis in items:
            at = items.index(Ellipsis)
            fill = (slice(None),) * (self.values.ndim - len(items) + 1)
            items = (*items[:at], *fill, *items[at + 1 :])
        items = (*items, *(slice(None),) * (self.values.ndim - len(items)))
        if len(items) > self.values.ndim:
            raise IndexError(f"{self.name} has {self.values.ndim} axes, got {len(items)} indices")
        values, axes, dimension = self.values, [], 0
        for axis, item in zip(self.axes, items, strict=True):
            if isinstance(item, SupportsIndex) and not isinstance(item, bool):
                values = values.take(item.__index__(), axis=dimension)
                continue
            chosen = numpy.arange(len(axis.labels))[item]
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
        """Find the dimension of an axis.

        Raises:
            UserError: if there is none of that name.
        """
        names = [axis.name for axis in self.axes]
        if name not in names:
            raise UserError(f"{self.name} has no axis {name}", where=name, hint=f"It has {', '.join(names) or 'none'}.")
        return names.index(name)

    def labels(self, name: str) -> tuple[str, ...]:
        """Return the labels of an axis."""
        return self.axes[self.axis(name)].labels

    def at(self, **indices: int | str | slice) -> "LabelledArray":
        """Select a part by the names of axes: `weights.at(heads=3, query="cat")`; a label means its first entry.

        Raises:
            UserError: if there is no such axis or label.
        """
        index: list[int | slice] = [slice(None)] * self.values.ndim
        for name, item in indices.items():
            dimension = self.axis(name)
            if isinstance(item, str):
                labels = self.axes[dimension].labels
                if item not in labels:
                    raise UserError(
                        f"axis {name} of {self.name} has no label {item!r}", where=name, hint=did_you_mean(item, labels)
                    )
                item = labels.index(item)
            index[dimension] = item
        return self[tuple(index)]

    def mean(self, name: str) -> "LabelledArray":
        """Average over an axis, which is dropped."""
        dimension = self.axis(name)
        return replace(
            self,
            values=self.values.mean(dimension),
            axes=self.axes[:dimension] + self.axes[dimension + 1 :],
            meaning=f"mean over {name}: {self.meaning}",
        )

    def as_dict(self) -> dict[str, Any]:
        """Convert to JSON types; numbers that are not finite become null."""
        return {
            "name": self.name,
            "unit": self.unit,
            "meaning": self.meaning,
            "code_location": self.code_location,
            "axes": [{"name": axis.name, "labels": list(axis.labels)} for axis in self.axes],
            "values": _finite(self.values.tolist()),
        }


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(one) for one in value]
    if isinstance(value, float) and not numpy.isfinite(value):
        return None
    return value

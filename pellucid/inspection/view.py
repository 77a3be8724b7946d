"""What a view is: numbers, a sentence on how to read them, and one chart."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pellucid.errors import UsageError, UserError
from pellucid.inspection.labelled import LabelledArray
from pellucid.inspection.look import Look

if TYPE_CHECKING:
    from pellucid.inspection.charts import Chart

__all__ = ["Asked", "Kind", "Table", "View", "head_of", "layer_of", "translator_of"]


class Asked(NamedTuple):
    """What a view is made of.

    Attributes:
        look: at a text.
        layer: which layer, from 0; the last if None.
        head: which head, from 0.
        model: what was looked into, for views that let it write: a Translator or a LanguageModel.
        folder: of the model, for views over its training.
    """

    look: Look
    layer: int | None = None
    head: int | None = None
    model: Any = None
    folder: Path | None = None


class Table(NamedTuple):
    """Rows for people, where numbers alone do not tell."""

    headers: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True, eq=False)
class View:
    """Something to be seen.

    Attributes:
        name: as it is asked for.
        title: of the picture.
        reading: how to read it.
        arrays: its numbers, the main one first.
        chart: makes the picture.
        table: the same in rows, if that says more.
    """

    name: str
    title: str
    reading: str
    arrays: tuple[LabelledArray, ...]
    chart: "Callable[[], Chart]"
    table: Table | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        table = (
            None if self.table is None else {"headers": list(self.table.headers), "rows": [*map(list, self.table.rows)]}
        )
        return {
            "view": self.name,
            "title": self.title,
            "reading": self.reading,
            "arrays": [array.as_dict() for array in self.arrays],
            **({} if table is None else {"table": table}),
        }


class Kind(NamedTuple):
    """A view that can be asked for.

    Attributes:
        title: what it shows, for a list.
        what: the numbers that a look must hold for it.
        make: makes it.
    """

    title: str
    what: tuple[str, ...]
    make: Callable[[Asked], View]


def layer_of(asked: Asked, count: int) -> int:
    """Return the layer that is asked for, the last unless told."""
    layer = count - 1 if asked.layer is None else asked.layer
    if not 0 <= layer < count:
        raise UsageError(f"there are {count} layers, counted from 0; got {layer}", where="--layer")
    return layer


def head_of(asked: Asked, count: int) -> int:
    """Return the head that is asked for, the first unless told."""
    head = asked.head or 0
    if not 0 <= head < count:
        raise UsageError(f"there are {count} heads, counted from 0; got {head}", where="--head")
    return head


def translator_of(asked: Asked) -> Any:
    """Return the translator that the look is at; for views that let it write."""
    if asked.model is None or not asked.look.source:
        raise UserError("this view is of a translator that writes", where="--view")
    return asked.model

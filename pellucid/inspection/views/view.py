"""What a view is: numbers, a sentence on how to read them, and one chart."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pellucid.errors import UsageError, UserError
from pellucid.inspection.labelled_array import LabelledArray
from pellucid.inspection.look import Look

if TYPE_CHECKING:
    from pellucid.inspection.views.charts import Chart

__all__ = ["View", "ViewRequest", "ViewTable", "ViewType", "chosen_head", "chosen_layer", "require_translator"]


class ViewRequest(NamedTuple):
    """What a view is made of.

    Attributes:
        look: at a text.
        layer: which layer, from 0; the last if None.
        head: which head, from 0.
        model: what was looked into, for views that let it write: a Translator or a LanguageModel.
        folder: of the model, for views over its training.
        prefix: how the translation had to begin, for the view of the search.
    """

    look: Look
    layer: int | None = None
    head: int | None = None
    model: Any = None
    folder: Path | None = None
    prefix: str = ""


class ViewTable(NamedTuple):
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
    table: ViewTable | None = None

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


class ViewType(NamedTuple):
    """A view that can be asked for.

    Attributes:
        title: what it shows, for a list.
        what: the numbers that a look must hold for it.
        make: makes it.
        narrows: by which of `layer` and `head` it can be narrowed.
    """

    title: str
    what: tuple[str, ...]
    make: Callable[[ViewRequest], View]
    selectable: tuple[str, ...] = ()

    def reject_unsupported(self, name: str, layer: int | None, head: int | None) -> None:
        """Make sure that the view, of this name, shows one layer or one head if one is asked for.

        Raises:
            UsageError: if it has none to choose from.
        """
        for which, number in (("layer", layer), ("head", head)):
            if number is not None and which not in self.selectable:
                raise UsageError(f"the view {name} is not of one {which}", where=f"--{which}", hint="Leave it out.")

    def without_unsupported(self, request: ViewRequest) -> ViewRequest:
        """Drop the parts of the request that do not apply to the view."""
        layer = request.layer if "layer" in self.selectable else None
        return request._replace(layer=layer, head=request.head if "head" in self.selectable else None)


def chosen_layer(request: ViewRequest, count: int) -> int:
    """Return the layer that is asked for, the last unless told."""
    layer = count - 1 if request.layer is None else request.layer
    if not 0 <= layer < count:
        raise UsageError(
            f"there are {count} layers, counted from 0; got {layer}",
            where="--layer",
            hint=f"Pass a layer from 0 to {count - 1}.",
        )
    return layer


def chosen_head(request: ViewRequest, count: int) -> int:
    """Return the head that is asked for, the first unless told."""
    head = request.head or 0
    if not 0 <= head < count:
        raise UsageError(
            f"there are {count} heads, counted from 0; got {head}",
            where="--head",
            hint=f"Pass a head from 0 to {count - 1}.",
        )
    return head


def require_translator(request: ViewRequest) -> Any:
    """Return the translator that the look is at; for views that let it write."""
    if not request.look.source:
        raise UserError(
            "this view is of a translator: a language model has nothing to translate",
            where="--view",
            hint="Choose another view: `pellucid look --list` lists them.",
        )
    if request.look.edits:
        raise UserError(
            "this view is of what the model writes without changes", where="--view", hint="Leave the changes out."
        )
    if request.model is None:
        raise UserError(
            "this view lets the model write, and a look has only the numbers", where="--view",
            hint="Use `pellucid look`, or in Python view_of(ViewRequest(look, model=model), NAME).",
        )  # fmt: skip
    return request.model

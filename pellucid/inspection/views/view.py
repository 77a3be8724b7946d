"""A view: some numbers of a look, how to read them, and one chart."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pellucid.errors import UsageError, UserError
from pellucid.generation.text_model import TextModel
from pellucid.generation.translation_model import TranslationModel
from pellucid.inspection.labelled_array import LabelledArray
from pellucid.inspection.recording import RecordedRun
from pellucid.inspection.views.charts import Chart

__all__ = ["View", "ViewRequest", "ViewTable", "ViewType", "chosen_head", "chosen_layer", "require_translator"]


class ViewRequest(NamedTuple):
    """What a view is made of.

    Attributes:
        layer: from 0; the last if None.
        head: from 0.
        model: that was looked at, for views of what it writes.
        folder: of the model, for views of its training.
        prefix: how the translation had to begin, for the view of the search.
    """

    look: RecordedRun
    layer: int | None = None
    head: int | None = None
    model: TranslationModel | TextModel | None = None
    folder: Path | None = None
    prefix: str = ""


class ViewTable(NamedTuple):
    """A view as rows, where numbers alone do not say enough."""

    headers: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True, eq=False)
class View:
    """Some numbers of a look, ready to be drawn.

    Attributes:
        reading: how to read the chart.
        arrays: the numbers, the main ones first.
        table: the same as rows, if that says more.
        name: as it is requested.
        title: of the chart.
    """

    reading: str
    arrays: tuple[LabelledArray, ...]
    chart: Callable[[], Chart]
    table: ViewTable | None = None
    name: str = ""
    title: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Convert to JSON types."""
        found: dict[str, Any] = {
            "view": self.name,
            "title": self.title,
            "reading": self.reading,
            "arrays": [array.as_dict() for array in self.arrays],
        }
        if self.table is not None:
            found["table"] = {"headers": list(self.table.headers), "rows": [list(row) for row in self.table.rows]}
        return found


class ViewType(NamedTuple):
    """A view that can be requested.

    Attributes:
        taps: names or patterns of the taps it needs.
        selectable: which of `layer` and `head` can be selected.
    """

    title: str
    taps: tuple[str, ...]
    build: Callable[[ViewRequest], View]
    selectable: tuple[str, ...] = ()

    def reject_unsupported(self, name: str, layer: int | None, head: int | None) -> None:
        """Check that a layer or head is requested only where the view can select one.

        Raises:
            UsageError: if it cannot.
        """
        for which, number in (("layer", layer), ("head", head)):
            if number is not None and which not in self.selectable:
                raise UsageError(f"the view {name} has no single {which}", where=f"--{which}", hint="Leave it out.")

    def without_unsupported(self, request: ViewRequest) -> ViewRequest:
        """Drop the layer or head of a request where the view cannot select one."""
        layer = request.layer if "layer" in self.selectable else None
        return request._replace(layer=layer, head=request.head if "head" in self.selectable else None)


def chosen_layer(request: ViewRequest, count: int) -> int:
    """Return the requested layer, or the last."""
    layer = count - 1 if request.layer is None else request.layer
    if not 0 <= layer < count:
        raise UsageError(f"there is no layer {layer}", where="--layer", hint=f"Use a number from 0 to {count - 1}.")
    return layer


def chosen_head(request: ViewRequest, count: int) -> int:
    """Return the requested head, or the first."""
    head = request.head or 0
    if not 0 <= head < count:
        raise UsageError(f"there is no head {head}", where="--head", hint=f"Use a number from 0 to {count - 1}.")
    return head


def require_translator(request: ViewRequest) -> TranslationModel:
    """Return the translator that the look is at, for views of what it writes.

    Raises:
        UserError: if the look is at a language model, was edited, or comes without its model.
    """
    if not request.look.source:
        raise UserError(
            "this view needs a translator, and this is a language model", where="--view", hint="Choose another view."
        )
    if request.look.edits:
        raise UserError("this view shows what the unedited model writes", where="--view", hint="Leave the edits out.")
    if not isinstance(request.model, TranslationModel):
        raise UserError(
            "this view needs the model, and a look has only its numbers",
            where="--view",
            hint="Use `pellucid look`, or in Python build_view(ViewRequest(look, model=model), NAME).chart().",
        )
    return request.model

"""Numbers of a look, drawn in a terminal: shades where they are shares, digits where they are not."""

import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pellucid.cli import console
from pellucid.cli.alignment_drawing import LEGEND, draw_alignment

if TYPE_CHECKING:
    from pellucid.inspection.checks import SanityCheck
    from pellucid.inspection.labelled_array import LabelledArray
    from pellucid.inspection.views.view import View, ViewTable

__all__ = ["draw", "draw_checks", "draw_table", "show_view"]

_LEAST = 0.05  # share of a row that is drawn at all
_MOST_COLUMNS = 48  # of digits: more can only be seen as a picture
_MOST_PLACES = 60  # of a map either way, and columns of a table: a terminal is no place for more
_NOT_OF_THE_TEXT = ("offset", "d_model", "d_head", "pair", "layer", "part")  # axes that are as long for any text
_MOST_ROWS = 200  # of a table, which has some for each token


def show_view(view: "View", precision: str | None = None, head: int | None = None) -> None:
    """Print a view: what it shows, in which precision if it was computed by a model, drawn, and how to read it."""
    console.data(f"{view.title}  ({view.arrays[0].name}{f', {precision}' if precision else ''})")
    for line in draw_table(view.table) if view.table else draw(view.arrays[0], head):
        console.data(line)
    console.log("")
    console.log(view.reading)


def draw(array: "LabelledArray", head: int | None = None, columns: int | None = None) -> list[str]:
    """Return the lines of a drawing.

    Args:
        array: of one to three axes; of three, the first is heads (one is drawn, or their mean) or else parts or
            steps (the last).
        head: which, of heads.
        columns: width of the terminal; this one's unless given.
    """
    columns = columns or shutil.get_terminal_size((80, 24)).columns
    lines: list[str] = []
    if len(array.axes) == 3:
        first = array.axes[0]
        if first.name == "heads" and head is None and array.unit == "share":
            lines.append(f"mean of {len(first.labels)} heads; one of them by its number (--head)")
            array = array.mean("heads")
        else:  # of parts the last is their sum, of steps the last is the model as it is
            chosen = head if first.name == "heads" and head is not None else len(first.labels) - 1
            lines.append(f"{first.name} {first.labels[chosen]}")
            array = array[chosen]
    array, cut = _shortened(array)
    lines += cut
    if len(array.axes) == 1:
        (axis,) = array.axes
        rows = [[label, float(value)] for label, value in zip(axis.labels, array.values, strict=True)]
        return [*lines, *console.format_table([axis.name, array.unit], rows)]
    down, across = array.axes
    if array.unit == "share" and array.values.min(initial=0) >= 0:
        weights = {
            (i, j): float(value) for j, row in enumerate(array.values) for i, value in enumerate(row) if value >= _LEAST
        }
        return [*lines, *draw_alignment(across.labels, down.labels, weights, columns), LEGEND]
    shown = min(len(across.labels), _MOST_COLUMNS)
    if shown < len(across.labels):
        lines.append(_first(shown, len(across.labels), f"places of {across.name}"))
    headers = ["", *across.labels[:shown]]
    rows = [
        [label, *(f"{value:.2f}" for value in row[:shown])]
        for label, row in zip(down.labels, array.values, strict=True)
    ]
    return [*lines, *_blocks(headers, rows, columns)]


def draw_table(table: "ViewTable") -> list[str]:
    """Return the lines of a table, in blocks if it is wider than the terminal; of a long one its beginning."""
    rows = [[_cell(value) for value in row[:_MOST_PLACES]] for row in table.rows[:_MOST_ROWS]]
    sizes = ((_MOST_ROWS, len(table.rows), "rows"), (_MOST_PLACES, len(table.headers), "columns"))
    lines = [_first(most, size, name) for most, size, name in sizes if size > most]
    return [*lines, *_blocks(list(table.headers[:_MOST_PLACES]), rows, shutil.get_terminal_size((80, 24)).columns)]


def draw_checks(checks: "Sequence[SanityCheck]") -> None:
    """Print how exactly the promises of a look are kept."""
    rows = [[check.name, "not here" if check.error is None else f"{check.error:.1e}", check.bound] for check in checks]
    console.table(["promise", "largest error", "at most"], rows)


def _shortened(array: "LabelledArray") -> tuple["LabelledArray", list[str]]:
    """Return the beginning of an array that a terminal has room for, and lines that say what is left out."""
    lines: list[str] = []
    for place, axis in enumerate(array.axes):
        if len(axis.labels) > _MOST_PLACES:
            lines.append(_first(_MOST_PLACES, len(axis.labels), f"places of {axis.name}"))
            array = array[(slice(None),) * place + (slice(_MOST_PLACES),)]
    return array, lines


def _first(shown: int, count: int, name: str) -> str:
    fewer = "" if name.endswith(_NOT_OF_THE_TEXT) else "a shorter text has fewer, "
    return f"the first {shown} of {count:,} {name}; {fewer}--json gives all of them"


def _blocks(headers: Sequence[str], rows: Sequence[Sequence[Any]], columns: int) -> list[str]:
    """Lay a table out in blocks that fit, each with the first column."""
    widths = [
        max(console.display_width(str(cell)) for cell in [header, *(row[i] for row in rows)])
        for i, header in enumerate(headers)
    ]
    lines: list[str] = []
    at = 1
    while at < len(headers) or not lines:
        stop, used = at, widths[0]
        while stop < len(headers) and (stop == at or used + 2 + widths[stop] <= columns):
            used += 2 + widths[stop]
            stop += 1
        chosen = [0, *range(at, stop)]
        lines += [""] if lines else []
        lines += console.format_table([headers[i] for i in chosen], [[row[i] for i in chosen] for row in rows])
        at = max(stop, at + 1)
    return lines


def _cell(value: Any) -> Any:
    return round(value, 4) + 0.0 if isinstance(value, float) else value  # + 0.0: no −0

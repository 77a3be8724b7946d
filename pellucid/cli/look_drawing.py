"""Draw the arrays of a look in a terminal: shares as shades, other numbers as digits."""

import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pellucid.cli import console
from pellucid.cli.alignment_drawing import LEGEND, divide, draw_alignment

if TYPE_CHECKING:
    from pellucid.inspection.labelled_array import LabelledArray
    from pellucid.inspection.views.view import View, ViewTable

__all__ = ["draw", "draw_table", "show_view"]

_LEAST = 0.05  # smaller shares are not drawn
_MOST_COLUMNS = 48  # of digits: for more, a picture is needed
_MOST_ENTRIES = 60  # of an axis, and columns of a table
_FIXED_AXES = ("offset", "d_model", "d_head", "pair", "layer", "part")  # their length does not depend on the text
_MOST_ROWS = 200  # of a table


def show_view(view: "View", precision: str = "", head: int | None = None) -> None:
    """Print a view: its title, with the precision of the model, the drawing, and how to read it."""
    console.data(f"{view.title}  ({view.arrays[0].name}{f', {precision}' if precision else ''})")
    for line in draw_table(view.table) if view.table else draw(view.arrays[0], head):
        console.data(line)
    console.log("")
    console.log(view.reading)


def draw(array: "LabelledArray", head: int | None = None, columns: int | None = None) -> list[str]:
    """Draw an array as lines of text.

    Args:
        array: with one to three axes. Of three, the first is reduced: heads to the selected one or their mean, parts
            and steps to the last.
        columns: width of the terminal; that of this terminal unless given.
    """
    columns = columns or shutil.get_terminal_size((80, 24)).columns
    lines: list[str] = []
    if len(array.axes) == 3:
        first = array.axes[0]
        if first.name == "heads" and head is None and array.unit == "share":
            lines.append(f"mean of {len(first.labels)} heads; select one with --head")
            array = array.mean("heads")
        else:  # the last part is the sum, the last step the finished model
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
        lines.append(_first(shown, len(across.labels), f"entries of {across.name}"))
    headers = ["", *across.labels[:shown]]
    rows = [
        [label, *(f"{value:.2f}" for value in row[:shown])]
        for label, row in zip(down.labels, array.values, strict=True)
    ]
    return [*lines, *_blocks(headers, rows, columns)]


def draw_table(table: "ViewTable") -> list[str]:
    """Draw a table as lines of text, in blocks if it is wider than the terminal; a long one is cut."""
    rows = [[_cell(value) for value in row[:_MOST_ENTRIES]] for row in table.rows[:_MOST_ROWS]]
    sizes = ((_MOST_ROWS, len(table.rows), "rows"), (_MOST_ENTRIES, len(table.headers), "columns"))
    lines = [_first(most, size, name) for most, size, name in sizes if size > most]
    return [*lines, *_blocks(list(table.headers[:_MOST_ENTRIES]), rows, shutil.get_terminal_size((80, 24)).columns)]


def _shortened(array: "LabelledArray") -> tuple["LabelledArray", list[str]]:
    """Cut an array to what fits into a terminal; returns lines that say so."""
    lines: list[str] = []
    for dimension, axis in enumerate(array.axes):
        if len(axis.labels) > _MOST_ENTRIES:
            lines.append(_first(_MOST_ENTRIES, len(axis.labels), f"entries of {axis.name}"))
            array = array[(slice(None),) * dimension + (slice(_MOST_ENTRIES),)]
    return array, lines


def _first(shown: int, count: int, name: str) -> str:
    fewer = "" if name.endswith(_FIXED_AXES) else "a shorter text has fewer, "
    return f"the first {shown} of {count:,} {name}; {fewer}--json prints all of them"


def _blocks(headers: Sequence[str], rows: Sequence[Sequence[Any]], columns: int) -> list[str]:
    """Split a wide table into blocks that fit, each with the first column."""
    widths = [
        max(console.display_width(str(cell)) for cell in [header, *(row[i] for row in rows)])
        for i, header in enumerate(headers)
    ]
    lines: list[str] = []
    for first, last in divide([2 + width for width in widths[1:]], columns - widths[0]) or [(0, 0)]:
        chosen = [0, *range(first + 1, last + 1)]
        lines += [""] if lines else []
        lines += console.format_table([headers[i] for i in chosen], [[row[i] for i in chosen] for row in rows])
    return lines


def _cell(value: Any) -> Any:
    return round(value, 4) + 0.0 if isinstance(value, float) else value  # + 0.0: no −0

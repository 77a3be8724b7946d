"""Charts of labelled arrays, each one Vega-Lite definition: for notebooks, pages, PNG, SVG and JSON.

Colours show numbers only: shares on a scale from 0 to 1, signed numbers in blue below 0 and orange above. Hovering
shows the number and, where there is one, its formula with the operands.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import altair
import numpy

from pellucid.errors import UsageError, UserError
from pellucid.inspection.labelled_array import Array, Axis, LabelledArray
from pellucid.inspection.views.fonts import STACK, require_fonts
from pellucid.storage.files import write_bytes, write_text

__all__ = [
    "BACKGROUND",
    "Chart",
    "bars",
    "heat_map",
    "lines",
    "links",
    "save_chart",
    "scatter",
    "specification",
    "token_grid",
    "tree",
]

Chart = altair.TopLevelMixin
MOST_SHAPES, MOST_TEXTS = 500_000, 20_000  # numbers in a chart, drawn as a shape, or as a shape with a text

SHARE: Literal["blues"] = "blues"
SIGNED: Literal["blueorange"] = "blueorange"
# What Vega's dark theme leaves black:
DARK = {"text": {"color": "#e6e6e6"}}
BACKGROUND = "#1f2227"
_STATES = {"best": "#d55e00", "ended": "#009e73", "kept": "#0072b2", "pruned": "#999999"}  # Okabe & Ito 2008


def heat_map(
    array: LabelledArray,
    *,
    selected: int = 0,
    extra: Mapping[str, Array] | None = None,
    formula: str = "",
    columns: int = 4,
) -> Chart:
    """Draw a matrix as coloured cells; several matrices, such as heads, as one large chart and small ones to click on.

    Args:
        array: [row column], or [matrix row column].
        extra: more numbers of each cell by name, for the formula; broadcast to the array's shape.
        formula: Vega expression of a text for the tooltip; may use `datum.v` and the extra numbers.
    """
    *first, down, across = array.axes
    rows = _rows(array.values, ("h", "y", "x")[3 - array.values.ndim :], extra or {})
    base = _cells(rows, array, down, across, formula)
    if not first:
        return cast(Chart, base.properties(**_size(down, across, 520), title=_title(array)))
    pick = altair.selection_point(fields=["h"], value=[{"h": selected}], name="chosen")
    names = _looked_up(first[0].labels, "datum.value")
    facet = altair.Facet(
        "h:O", header=altair.Header(labelExpr=f"'{first[0].name.removesuffix('s')} ' + {names}"), title=None
    )
    # The filter is outside of the facet: inside, every matrix would keep its cell, empty except for the selected one.
    large = (
        base.properties(**_size(down, across, 520))
        .facet(facet=facet, columns=1)
        .transform_filter(pick)
        .properties(title=_title(array))
    )
    small = (
        base.encode(x=altair.X("x:O", axis=None), y=altair.Y("y:O", axis=None))
        .add_params(pick)
        .properties(**_size(down, across, 130))
        .facet(facet=facet, columns=columns)
    )
    return cast(Chart, altair.vconcat(large, small))


def bars(array: LabelledArray) -> Chart:
    """Draw a bar for each number, in the array's order."""
    (axis,) = array.axes
    rows = _rows(array.values, ("x",), {})
    chart: Chart = (
        altair.Chart(_inline(rows))
        .mark_bar()
        .encode(
            y=altair.Y("x:O", axis=_labels(axis), title=axis.name),
            x=altair.X("v:Q", title=array.unit if array.unit != "–" else None),
            color=altair.value("#0072b2"),
            tooltip=[altair.Tooltip("name:N", title=axis.name), altair.Tooltip("v:Q", title=array.unit)],
        )
        .transform_calculate(name=_looked_up(axis.labels, "datum.x"))
        .properties(width=420, title=_title(array))
    )
    return chart


def lines(array: LabelledArray) -> Chart:
    """Draw lines over an ordered axis, such as layers, offsets or steps: [x] or [line x]."""
    *first, across = array.axes
    rows = _rows(array.values, ("h", "x")[2 - array.values.ndim :], {})
    chart = (
        altair.Chart(_inline(rows))
        .mark_line(point=True)
        .encode(
            x=altair.X("x:O", axis=_labels(across), title=across.name),
            y=altair.Y("v:Q", title=array.unit if array.unit != "–" else None, scale=altair.Scale(zero=False)),
            tooltip=[altair.Tooltip("label:N", title=across.name), altair.Tooltip("v:Q", title=array.unit)],
        )
        .transform_calculate(label=_looked_up(across.labels, "datum.x"))
        .properties(width=max(240, min(640, 24 * len(across.labels))), height=260, title=_title(array))
    )
    if first:
        chart = chart.transform_calculate(which=_looked_up(first[0].labels, "datum.h")).encode(
            color=altair.Color("which:N", title=first[0].name, sort=None, scale=altair.Scale(scheme="tableau10"))
        )
    return cast(Chart, chart)


def links(weights: LabelledArray) -> Chart:
    """Draw attention as lines between the tokens of a short text; thicker and darker lines have more weight.

    Of the shares, [row column], the columns are at the top, the rows at the bottom.
    """
    down, across = weights.axes
    ends = {0: across, 1: down}
    words = [{"x": i, "y": y, "t": label} for y, axis in ends.items() for i, label in enumerate(axis.labels)]
    rules = [{**row, "top": 0.06, "bottom": 0.94} for row in _rows(weights.values, ("y", "x"), {}) if row["v"]]
    scale = altair.Scale(domain=[-0.5, max(len(axis.labels) for axis in ends.values()) - 0.5])
    x, y = (
        altair.X("x:Q", axis=None, scale=scale),
        altair.Y("top:Q", axis=None, scale=altair.Scale(domain=[1.1, -0.1])),
    )
    tooltip = [altair.Tooltip("row:N", title=down.name), altair.Tooltip("column:N", title=across.name)]
    lines = (
        altair.Chart(_inline(rules))
        .transform_calculate(row=_looked_up(down.labels, "datum.y"), column=_looked_up(across.labels, "datum.x"))
        .mark_rule(color="#0072b2")
        .encode(
            x=x, y=y, x2="y:Q", y2="bottom:Q",
            opacity=altair.Opacity("v:Q", scale=altair.Scale(domain=[0, 1], range=[0, 1]), title=weights.unit),
            size=altair.Size("v:Q", scale=altair.Scale(domain=[0, 1], range=[0.5, 5]), legend=None),
            tooltip=[*tooltip, altair.Tooltip("v:Q", title=weights.unit)],
        )
    )  # fmt: skip
    names = altair.Chart(_inline(words)).mark_text(fontSize=13).encode(x=x, y=altair.Y("y:Q"), text="t:N")
    width = 60 * max(len(axis.labels) for axis in ends.values())
    return altair.layer(lines, names).properties(width=width, height=220, title=_title(weights))


def token_grid(
    tokens: Sequence[Sequence[str]], values: LabelledArray, *, is_log: bool = True, upwards: bool = False
) -> Chart:
    """Draw a grid of tokens, each in a cell coloured by a number.

    Args:
        tokens: of each row, in the shape of `values`.
        is_log: whether the numbers are log-probabilities; the colour is then the probability.
        upwards: whether the first row is at the bottom, like the first layer of a model.
    """
    colour_name = "probability" if is_log else values.unit
    down, across = values.axes
    rows = _rows(values.values, ("y", "x"), {}, MOST_TEXTS)
    for row in rows:
        row["t"] = tokens[row["y"]][row["x"]]
    base = altair.Chart(_inline(rows)).encode(
        x=altair.X("x:O", axis=_labels(across, slanted=True), title=across.name),
        y=altair.Y("y:O", axis=_labels(down), title=down.name, sort="descending" if upwards else "ascending"),
        tooltip=[
            altair.Tooltip("t:N", title="token"),
            altair.Tooltip("v:Q", title=f"{values.meaning} ({values.unit})"),
            *([altair.Tooltip("p:Q", title="probability")] if is_log else []),
        ],
    ).transform_calculate(p="exp(datum.v)" if is_log else "datum.v")  # fmt: skip
    cell = altair.Step(64)
    colour = altair.Color("p:Q", scale=altair.Scale(scheme=SHARE, domain=[0, 1], clamp=True), title=colour_name)
    ink = altair.condition("datum.p > 0.6", altair.value("white"), altair.value("black"))
    cells = base.mark_rect().encode(color=colour)
    words = base.mark_text(fontSize=11, limit=62).encode(text="t:N", color=ink)
    return altair.layer(cells, words).properties(width=cell, height=altair.Step(24), title=_title(values))


def tree(nodes: Sequence[Mapping[str, Any]], title: str) -> Chart:
    """Draw a beam search: steps from left to right, every hypothesis on its own row.

    Args:
        nodes: with number, parent, step, display, log_prob, total, score and state; parents before children.
    """
    positions = _tree_rows(nodes)
    points = [{**node, "x": node["step"], "y": positions[node["number"]]} for node in nodes]
    edges = [
        {
            "x": nodes[node["parent"]]["step"], "y": positions[node["parent"]],
            "x2": node["step"], "y2": positions[node["number"]], "state": node["state"],
        }
        for node in nodes
        if node["parent"] is not None
    ]  # fmt: skip
    colour = altair.Color("state:N", title="", scale=altair.Scale(domain=list(_STATES), range=list(_STATES.values())))
    steps = max(node["step"] for node in nodes)
    x = altair.X("x:Q", title="step", scale=altair.Scale(domain=[-0.3, steps + 0.7]), axis=altair.Axis(tickMinStep=1))
    y = altair.Y("y:Q", axis=None, scale=altair.Scale(reverse=True))
    links = altair.Chart(_inline(edges)).mark_rule(opacity=0.6).encode(x=x, y=y, x2="x2:Q", y2="y2:Q", color=colour)
    words = (
        altair.Chart(_inline(points))
        .mark_text(align="left", dx=3, fontSize=11)
        .encode(
            x=x, y=y, text="display:N", color=colour,
            tooltip=[
                altair.Tooltip("display:N", title="token"), altair.Tooltip("state:N"),
                altair.Tooltip("log_prob:Q", title="log-probability of the token (nats)"),
                altair.Tooltip("total:Q", title="log-probability of the whole (nats)"),
                altair.Tooltip("score:Q", title="score = total / length^α"),
            ],
        )
    )  # fmt: skip
    height = max(120, 15 * len(set(positions.values())))
    return altair.layer(links, words).properties(width=max(320, 90 * (steps + 1)), height=height, title=title)


def scatter(array: LabelledArray) -> Chart:
    """Draw labelled points.

    The array is [label axis], with two coordinates each.
    """
    axis, _ = array.axes
    values = [{"x": float(x), "y": float(y), "t": name} for name, (x, y) in zip(axis.labels, array.values, strict=True)]
    base = altair.Chart(_inline(values)).encode(
        x=altair.X("x:Q", title=None), y=altair.Y("y:Q", title=None), tooltip=["t:N", "x:Q", "y:Q"]
    )
    words = base.mark_text(dy=-7, fontSize=11).encode(text="t:N")
    points = base.mark_circle(size=20, color="#0072b2")
    return altair.layer(points, words).properties(width=560, height=420, title=_title(array)).interactive()


def specification(chart: Chart) -> dict[str, Any]:
    """Convert a chart to Vega-Lite; its fonts include some for Chinese and emoji."""
    spec: dict[str, Any] = chart.to_dict()
    config = spec.setdefault("config", {})
    config |= {
        "font": STACK,
        "axis": {"labelLimit": 160, "labelFontSize": 11},
        "legend": {"labelFontSize": 11},
        "view": {"stroke": "transparent"},
    }
    return spec


def save_chart(chart: Chart, path: str | Path, *, dark: bool = False) -> None:
    """Write a chart as .png, .svg or .json; needs no browser.

    Raises:
        UsageError: for another file extension.
        UserError: if a PNG needs a font that this system does not have, or the file cannot be written.
    """
    import vl_convert

    path = Path(path)
    form = path.suffix.lower()
    spec = specification(chart)
    if dark:
        spec["config"] |= DARK
        spec["background"] = BACKGROUND
    theme: Any = "dark" if dark else None
    if form == ".json":
        write_text(path, json.dumps(spec, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    elif form == ".svg":
        write_text(path, vl_convert.vegalite_to_svg(spec, theme=theme))
    elif form == ".png":
        require_fonts(json.dumps(spec, ensure_ascii=False))
        write_bytes(path, vl_convert.vegalite_to_png({"background": "white", **spec}, theme=theme, scale=2))
    else:
        raise UsageError(
            f"pictures have no format {form or 'without an extension'}",
            where=str(path),
            hint="Use a file name that ends in .html, .png, .svg or .json.",
        )


def _cells(rows: list[dict[str, Any]], array: LabelledArray, down: Axis, across: Axis, formula: str) -> Any:
    unit = array.unit if array.unit != "–" else ""
    tooltip = [
        altair.Tooltip("row:N", title=down.name),
        altair.Tooltip("column:N", title=across.name),
        altair.Tooltip("v:Q", title=unit or "value"),
    ]
    chart = altair.Chart(_inline(rows)).transform_calculate(
        row=_looked_up(down.labels, "datum.y"), column=_looked_up(across.labels, "datum.x")
    )
    if formula:
        chart = chart.transform_calculate(formula=formula)
        tooltip.append(altair.Tooltip("formula:N", title="="))
    return chart.mark_rect().encode(
        x=altair.X("x:O", axis=_labels(across, slanted=True), title=across.name),
        y=altair.Y("y:O", axis=_labels(down), title=down.name),
        color=altair.Color("v:Q", scale=_scale(array), title=unit or None),
        tooltip=tooltip,
    )


def _inline(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Wrap rows as the data of a chart."""
    return altair.Data(values=list(rows))  # type: ignore[no-untyped-call]


def _scale(array: LabelledArray) -> altair.Scale:
    """Choose the colours: shares from 0 to 1, signed numbers around 0."""
    finite = array.values[numpy.isfinite(array.values)]
    if array.unit == "share" and finite.size and finite.min() >= 0:
        return altair.Scale(scheme=SHARE, domain=[0, 1])
    if finite.size and finite.min() >= 0:
        return altair.Scale(scheme=SHARE)
    most = float(numpy.abs(finite).max()) if finite.size else 1.0
    return altair.Scale(scheme=SIGNED, domain=[-most, most], domainMid=0)


def _size(down: Axis, across: Axis, most: int) -> dict[str, Any]:
    """Make square cells as large as fit, between 2 and 30 pixels."""
    cell = max(2, min(30, most // max(len(down.labels), len(across.labels), 1)))
    if most > 300:  # with labels, which would overlap in smaller cells
        cell = max(cell, 11)
    return {"width": altair.Step(cell), "height": altair.Step(cell)}


def _labels(axis: Axis, slanted: bool = False) -> altair.Axis:
    angle: Any = (
        (-60 if len(axis.labels) <= 24 else -90) if slanted else altair.Undefined
    )  # closely spaced labels would overlap
    names = _looked_up(axis.labels, "datum.value")
    return altair.Axis(labelExpr=names, labelOverlap=False, ticks=False, labelAngle=angle)


def _looked_up(labels: Sequence[str], position: str) -> str:
    return f"{json.dumps(list(labels), ensure_ascii=False)}[{position}]"


def _rows(
    values: Array, names: Sequence[str], extra: Mapping[str, Array], most: int = MOST_SHAPES
) -> list[dict[str, Any]]:
    """Make a row for each number: its index on each axis, and `v`, with as few digits as identify it."""
    if values.size > most:
        raise UserError(
            f"a chart can have {most:,} numbers, this one has {values.size:,}",
            where="view",
            hint="Look at a shorter text, or draw a part: heat_map(look[NAME][0, :100, :100]). --json has all numbers.",
        )
    columns = {"v": values, **{name: numpy.broadcast_to(x, values.shape) for name, x in extra.items()}}
    lists = {name: _shortest(x) for name, x in columns.items()}
    positions = numpy.indices(values.shape).reshape(values.ndim, -1).T.tolist()
    return [
        {**dict(zip(names, position, strict=True)), **{name: column[i] for name, column in lists.items()}}
        for i, position in enumerate(positions)
    ]


def _shortest(values: Array) -> list[float | None]:
    flat = numpy.asarray(values).ravel()
    if flat.dtype == numpy.float64:  # derived from float32: more digits would mean nothing
        flat = flat.astype(numpy.float32)
    return [float(str(x)) if numpy.isfinite(x) else None for x in flat]


def _title(array: LabelledArray) -> altair.TitleParams:
    subtitle = array.meaning + (f" ({array.unit})" if array.unit != "–" else "")
    return altair.TitleParams(array.name, subtitle=subtitle, anchor="start")


def _tree_rows(nodes: Sequence[Mapping[str, Any]]) -> dict[int, float]:
    """Assign rows to nodes: leaves below each other, parents beside their first child."""
    children: dict[int, list[int]] = {}
    for node in nodes:
        if node["parent"] is not None:
            children.setdefault(node["parent"], []).append(node["number"])
    positions: dict[int, float] = {}
    free = 0.0
    waiting = [0] if nodes else []
    while waiting:  # depth first, without recursion, because a translation may be long
        number = waiting.pop()
        own = sorted(children.get(number, ()), key=lambda n: (nodes[n]["state"] != "best", -nodes[n]["total"]))
        if number not in positions:
            positions[number] = free
        if not own:
            free += 1.0
            continue
        waiting += reversed(own)
    # The first child stays on its parent's row; every other one starts a new row.
    return positions

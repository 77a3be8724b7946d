"""The figure of an experiment as a Vega-Lite definition, which serves page, notebook and SVG."""

import re
from typing import Any
from unicodedata import east_asian_width

from pellucid.claims.evidence import Evidence, Figure, Record, finite
from pellucid.claims.rules import Verdict
from pellucid.claims.texts import ClaimTexts, Language

__all__ = ["COLOURS", "specification", "svg"]

COLOURS: dict[Verdict, str] = {  # Okabe & Ito 2008: told apart by colour-blind readers too
    "holds": "#009e73",
    "holds-if": "#0072b2",
    "refuted": "#d55e00",
    "not-settled": "#8a6d00",
    "not-run": "#767676",
}
_FONTS = "'Noto Sans','Helvetica Neue',Arial,'Noto Sans CJK SC','PingFang SC','Microsoft YaHei',sans-serif"
_LABELLED = 12  # up to this many bars have their number written above them
_WIDTH, _WIDTH_OF_PARTS, _ROOM = 420, 240, 560  # pixels: one figure, each of several side by side, and all of those
_TINY = 1e-4  # below this, an axis is labelled in powers of ten
_SPREAD = ("low", "high")  # columns that hold the interval of y


def specification(evidence: Evidence, texts: ClaimTexts, language: Language) -> dict[str, Any]:
    """Build the Vega-Lite definition of an experiment's figure, with its data and with texts in one language."""
    import altair

    figure = evidence.figure
    rows = [_row(record, texts, language) for record in evidence.records]
    base: Any = altair.Chart(altair.InlineData(values=rows))
    columns = [name for name in (figure.x, figure.y, figure.colour, figure.column) if name]
    titles = {name: texts.name(name, language) for name in columns}
    encoding = _encoding(figure, rows, titles)
    marks = {
        "line": lambda: base.mark_line(point=True),
        "bar": base.mark_bar,
        "point": lambda: base.mark_point(filled=True, size=50, opacity=0.8),
        "heat": base.mark_rect,
    }
    chart = marks[figure.mark]().encode(**encoding)
    if figure.mark in {"line", "bar"} and all(name in row for name in _SPREAD for row in rows):
        chart = altair.layer(chart, _intervals(base, figure, encoding))
    elif figure.mark == "bar" and len(rows) <= _LABELLED:
        chart = altair.layer(chart, _labels(base, figure, encoding))
    chart = chart.properties(width=_width(figure, rows), height=240)
    if figure.column:
        chart = chart.facet(column=altair.Column(f"{figure.column}:N", title=titles[figure.column]))
    drawn: dict[str, Any] = chart.configure(font=_FONTS).to_dict()
    return drawn


def _width(figure: Figure, rows: list[dict[str, Any]]) -> int:
    """Compute the width of each part, so that all parts and the legend fit on a page."""
    if not figure.column:
        return _WIDTH
    return min(_WIDTH_OF_PARTS, _ROOM // max(1, len({str(row.get(figure.column)) for row in rows})))


def svg(definition: dict[str, Any]) -> str:
    """Render a Vega-Lite definition as SVG.

    The screen-reader label of each mark is left out: nobody reads it in a picture, and the labels are half of the file.
    """
    import vl_convert

    return re.sub(r' (role|aria-[a-z]+)="[^"]*"', "", vl_convert.vegalite_to_svg(definition))


def _encoding(figure: Figure, rows: list[dict[str, Any]], titles: dict[str, str]) -> dict[str, Any]:
    import altair

    cells = figure.mark in {"bar", "heat"}
    x_kind = "N" if cells or _is_text(rows, figure.x) else "Q"
    y_kind = "N" if figure.mark == "heat" else "Q"
    x_scale = altair.Scale(type="log") if figure.log_x else altair.Scale(zero=False)
    y_scale = altair.Scale(type="log") if figure.log_y else altair.Scale(zero=figure.mark == "bar")
    encoding: dict[str, Any] = {
        "x": altair.X(f"{figure.x}:N", title=titles[figure.x], sort=None, axis=_axis(figure, rows))
        if x_kind == "N"
        else altair.X(f"{figure.x}:Q", title=titles[figure.x], scale=x_scale, axis=_counts(figure, rows)),
        "y": altair.Y(f"{figure.y}:N", title=titles[figure.y], sort=None)
        if y_kind == "N"
        else altair.Y(f"{figure.y}:Q", title=titles[figure.y], scale=y_scale, axis=_amounts(figure, rows)),
        "tooltip": [
            altair.Tooltip(f"{name}:{'N' if _is_text(rows, name) else 'Q'}", title=title)
            for name, title in titles.items()
        ],
    }
    if figure.colour:
        title = titles[figure.colour]
        if figure.mark == "heat":
            encoding["color"] = altair.Color(f"{figure.colour}:Q", title=title, scale=altair.Scale(scheme="blues"))
        else:
            encoding["color"] = altair.Color(
                f"{figure.colour}:N", title=title, sort=None, scale=altair.Scale(scheme="tableau10")
            )
    if figure.mark == "bar" and figure.colour and figure.colour != figure.x:
        encoding["xOffset"] = altair.XOffset(f"{figure.colour}:N", sort=None)
    return encoding


def _intervals(base: Any, figure: Figure, encoding: dict[str, Any]) -> Any:
    import altair

    kept = {name: encoding[name] for name in ("x", "xOffset") if name in encoding}
    # Bars cover their colour; lines keep it.
    shade = {"color": encoding["color"]} if figure.mark == "line" and "color" in encoding else {}
    return base.mark_rule(opacity=0.7).encode(y=altair.Y("low:Q"), y2=altair.Y2("high"), **kept, **shade)


def _labels(base: Any, figure: Figure, encoding: dict[str, Any]) -> Any:
    """Write the numbers above the bars, so that bars of no height are visibly 0."""
    import altair

    kept = {name: encoding[name] for name in ("x", "y", "xOffset") if name in encoding}
    return base.mark_text(dy=-6, fontSize=9).encode(text=altair.Text(f"{figure.y}:Q", format=".2~g"), **kept)


def _axis(figure: Figure, rows: list[dict[str, Any]]) -> Any:
    """Build an axis of words, horizontal if there is room and slanted otherwise."""
    import altair

    words = {str(row.get(figure.x)) for row in rows}
    longest = max(sum(2 if east_asian_width(letter) in "WF" else 1 for letter in word) for word in words)
    room = _width(figure, rows) / len(words)
    return altair.Axis(labelAngle=0 if 6 * longest < room else -35, labelLimit=180)


def _counts(figure: Figure, rows: list[dict[str, Any]]) -> Any:
    """Build an axis with a tick at each integer, if there are only a few."""
    import altair

    values = sorted({row[figure.x] for row in rows if row[figure.x] is not None})
    if len(values) <= _LABELLED and all(isinstance(value, int) for value in values):
        return altair.Axis(values=values, format="d")
    return altair.Axis()


def _amounts(figure: Figure, rows: list[dict[str, Any]]) -> Any:
    """Build an axis of numbers, in powers of ten if all are so small that their zeros would fill the margin."""
    import altair

    largest = max((abs(row[figure.y]) for row in rows if row[figure.y] is not None), default=0)
    return altair.Axis(format=".2~e") if 0 < largest < _TINY else altair.Axis()


def _is_text(rows: list[dict[str, Any]], name: str) -> bool:
    return any(isinstance(row.get(name), str) for row in rows)


def _row(record: Record, texts: ClaimTexts, language: Language) -> dict[str, Any]:
    """Prepare a row for JSON: non-finite numbers are left empty, words are translated."""
    return {
        name: texts.word(value, language) if isinstance(value, str) else finite(value) for name, value in record.items()
    }

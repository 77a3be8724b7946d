"""Self-contained pages of charts: they need no network and no server."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pellucid.inspection.recording import RecordedRun
from pellucid.inspection.tokens import Token
from pellucid.inspection.views.charts import specification
from pellucid.inspection.views.view import View
from pellucid.storage.files import write_text

__all__ = ["chart_scripts", "render_look", "render_page", "write_page"]


def chart_scripts(specifications: Mapping[str, object]) -> Markup:
    """Render the scripts that draw charts into the elements of a page that have their names as `data-chart`."""
    # JSON inside a script: no text in it may end the script.
    data = json.dumps(specifications, ensure_ascii=False).replace("<", "\\u003c")
    template = _templates().get_template("chart_scripts.html")
    return Markup(template.render(bundle=_bundle(), specifications=Markup(data)))


def write_page(path: str | Path, look: RecordedRun, views: Sequence[View], too_large: Sequence[str] = ()) -> None:
    """Write a page with some views of a look; it names those that are too large to be on it."""
    write_text(path, render_look(look, views, too_large))


def render_look(look: RecordedRun, views: Sequence[View], too_large: Sequence[str] = ()) -> str:
    """Render a page with some views of a look."""
    precision = f"{look.inspected.precision} arithmetic; every number is the model's own"
    about = f"{'; '.join([precision, *look.edits, *look.encoded.notes])}."
    if too_large:
        about += f" Left out because the text is long: {', '.join(too_large)}; draw each alone with --view."
    sides = (("source", look.source), ("target" if look.source else "text", look.target))
    return render_page(look.encoded.text, sides, about, views)


def render_page(heading: str, sides: Sequence[tuple[str, Sequence[Token]]], about: str, views: Sequence[View]) -> str:
    """Render a page of views.

    Args:
        sides: tokens to show, by what they are.
        about: what applies to all numbers.
    """
    scripts = chart_scripts({view.name: specification(view.chart()) for view in views})
    template = _templates().get_template("page.html")
    return template.render(heading=heading, sides=sides, about=about, views=views, scripts=scripts)


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("pellucid.inspection.views", ""), autoescape=True, undefined=StrictUndefined
    )


@cache
def _bundle() -> Markup:
    """Bundle the JavaScript that draws Vega-Lite, to be included in a page; takes a second."""
    import vl_convert

    bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub requires the optional snippet
    return Markup(bundle.replace("</script", "<\\/script"))

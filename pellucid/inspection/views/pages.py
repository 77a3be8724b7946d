"""A page of pictures that needs nothing but itself: no network, no server."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib import resources
from pathlib import Path

from pellucid.inspection.look import Look
from pellucid.inspection.tokens import Token
from pellucid.inspection.views.charts import specification
from pellucid.inspection.views.view import View
from pellucid.storage.files import write_text

__all__ = ["drawing", "filled", "page", "page_of", "write_page"]


def filled(template: str, parts: Mapping[str, str]) -> str:
    """Return a template with each `<!--name-->` taken by its part; what a part itself holds is left alone.

    Raises:
        KeyError: for a name that has no part.
    """
    return re.sub(r"<!--(\w+)-->", lambda found: parts[found[1]], template)


def drawing(specs: Mapping[str, object]) -> str:
    """Return the scripts that draw pictures on a page, each where an element has its name as `data-chart`.

    Args:
        specs: Vega-Lite by name.
    """
    template = resources.files("pellucid.inspection").joinpath("drawing.html").read_text(encoding="utf-8")
    # JSON within a script: no text in it may end the script.
    told = json.dumps(specs, ensure_ascii=False).replace("<", "\\u003c")
    return filled(template, {"bundle": _bundle(), "specs": told})


@cache
def _bundle() -> str:
    """Return the JavaScript that draws Vega-Lite, so that it can stand within a page; making it takes a second."""
    import vl_convert

    bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub forgets that the snippet may be left out
    return bundle.replace("</script", "<\\/script")


def write_page(path: str | Path, look: Look, views: Sequence[View], left_out: Sequence[str] = ()) -> None:
    """Write a page with some views of a look, whole or not at all; it says which are left out as too large."""
    write_text(path, page_of(look, views, left_out))


def page_of(look: Look, views: Sequence[View], left_out: Sequence[str] = ()) -> str:
    """Return a page with some views of a look."""
    about = _about(look)
    if left_out:
        about += f" Left out because the text is long: {', '.join(left_out)}; named with --view they are drawn alone."
    return page(
        look.encoded.text, (("source", look.source), ("target" if look.source else "text", look.target)), about, views
    )


def page(text: str, sides: Sequence[tuple[str, Sequence[Token]]], about: str, views: Sequence[View]) -> str:
    """Return a page; the JavaScript that draws is within it.

    Args:
        text: its heading.
        sides: tokens to be shown, by what they are.
        about: what a reader should know of all numbers.
        views: in their order.
    """
    template = resources.files("pellucid.inspection").joinpath("page.html").read_text(encoding="utf-8")
    sections = [
        f'<section id="{view.name}"><h2>{escape(view.title)}</h2><p>{escape(view.reading)}</p>'
        f'<div class="chart" data-chart="{number}"></div></section>'
        for number, view in enumerate(views)
    ]
    links = [f'<a href="#{view.name}">{escape(view.title)}</a>' for view in views]
    parts = {
        "title": escape(text[:80]),
        "heading": escape(text),
        "tokens": "".join(_side(name, tokens) for name, tokens in sides),
        "about": escape(about),
        "links": "\n".join(links),
        "sections": "\n".join(sections),
        "drawing": drawing({str(number): specification(view.chart()) for number, view in enumerate(views)}),
    }
    return filled(template, parts)


def _about(look: Look) -> str:
    notes = [
        f"{look.inspected.precision} arithmetic; every number is the model's own",
        *look.edits,
        *look.encoded.notes,
    ]
    return "; ".join(notes) + "."


def _side(name: str, tokens: Sequence[Token]) -> str:
    if not tokens:
        return ""
    kinds = {False: "token", True: "token special"}
    shown = "".join(
        f'<span class="{kinds[token.special]}" title="{_hover(token)}">{escape(token.display)}</span>'
        for token in tokens
    )
    return f'<p class="tokens"><b>{name}</b> {shown}</p>'


def _hover(token: Token) -> str:
    return escape(f"{token.position}: id {token.id}, bytes {token.bytes.hex(' ') or 'none'}", quote=True)

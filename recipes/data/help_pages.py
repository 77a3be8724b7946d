"""GNOME's help (Mallard and DocBook): texts at the same leaf of both languages' trees, if the trees agree."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from typing import NamedTuple

from recipes.data.plain_text import Pair, tidy

__all__ = ["matching_leaves"]

_LEAVES = frozenset(["p", "title", "desc", "para", "term", "td", "subtitle", "cite", "name", "simpara"])
_INNER = _LEAVES | frozenset(["list", "steps", "itemizedlist"])
_DROPPED = frozenset(["info", "code", "screen", "articleinfo", "bookinfo", "programlisting", "credit", "legalnotice"])
_DOCTYPE = re.compile(r"<!DOCTYPE[^\[>]*(\[.*?\])?\s*>", re.DOTALL)
_ENTITY = re.compile(r"&(?!amp;|lt;|gt;|quot;|apos;|#)\w+;")


class Leaf(NamedTuple):
    """An element that contains text and no other such element."""

    tag: str
    text: str


def matching_leaves(other: bytes, english: bytes) -> Iterator[Pair]:
    """Yield the texts of two XML pages leaf by leaf; nothing unless both are well-formed with the same structure."""
    try:
        leaves, twins = (list(_leaves(_tree(page))) for page in (other, english))
    except ElementTree.ParseError:
        return
    if [leaf.tag for leaf in leaves] == [twin.tag for twin in twins]:
        for leaf, twin in zip(leaves, twins, strict=True):
            yield Pair(leaf.text, twin.text)


def _tree(page: bytes) -> ElementTree.Element:
    # Entities of the document type hold names and links that the pages do not bring with them.
    text = _DOCTYPE.sub("", page.decode("utf-8", errors="replace"))
    return ElementTree.fromstring(_ENTITY.sub("", text))


def _leaves(element: ElementTree.Element) -> Iterator[Leaf]:
    for child in element:
        tag = _name(child)
        if tag in _DROPPED:
            continue
        if tag in _LEAVES and not any(_name(inner) in _INNER for inner in child):
            yield Leaf(tag, tidy("".join(child.itertext())))
        else:
            yield from _leaves(child)


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]

"""HTML manuals: blocks at the same position of both languages' pages, if the pages agree tag by tag."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import NamedTuple

from recipes.data.plain_text import Pair, tidy

__all__ = ["Page", "matching_blocks", "matching_paragraphs", "read_page"]

_BLOCKS = frozenset(["p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "dt", "dd", "td", "th", "title", "div", "caption"])
_SKIPPED = frozenset(["pre", "script", "style", "head", "nav"])
_EMPTY = frozenset(["meta", "link", "br", "img", "hr", "input", "col"])
_HEADING_NUMBER = re.compile(
    r"^(?:[A-Z]|\d+|Table|Figure|表|图|Tabelle|Abbildung|Tableau|Figure|Tabla|Figura)?[\s.]*[\dA-Z]?[\d.]+\.?\s+"
)
# LibreOffice's pages hold the texts for every platform and program side by side.
_SWITCHED = re.compile(
    r"PreferencesTools|CommandCtrl|OptionAlt|Command\+?Ctrl|Writer ?Calc|"
    r"[a-z](?:Calc|Writer|Impress|Draw|Tools|Command|Option)\b|Calc ?Impress|"
    r"Impress ?Draw|⌘"
)
_MISSING_SPACE = re.compile(r"(?<=[a-z])\.(?=[A-Z][a-z]+ )")


class Block(NamedTuple):
    """A paragraph, heading, list item or cell."""

    tag: str
    text: str


class OpenBlock(NamedTuple):
    """A block that is still open."""

    tag: str
    texts: list[str]
    name: str | None


class Page(HTMLParser):
    """A page's blocks, split into `sections` at each named anchor, and the texts of blocks with an `id`."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.sections: dict[str, list[Block]] = {"": []}
        self.texts: dict[str, str] = {}
        self._section = ""
        self._skipped = 0
        self._open: list[OpenBlock] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open a block or a section."""
        if tag in _EMPTY:
            if tag == "br" and self._open:
                self._open[-1].texts.append(" ")
            return
        attributes = dict(attrs)
        if tag in _SKIPPED:
            self._skipped += 1
        if tag in _BLOCKS:
            self._open.append(OpenBlock(tag, [], attributes.get("id")))
        name = attributes.get("id") or (attributes.get("name") if tag == "a" else None)
        # Names that begin with id- are made anew for each language.
        if name and not name.startswith("id-") and name not in self.sections and not self._skipped:
            self._section = name
            self.sections[name] = []

    def handle_endtag(self, tag: str) -> None:
        """Close a block, and blocks inside it that are still open."""
        if tag in _SKIPPED and self._skipped:
            self._skipped -= 1
        if not any(block.tag == tag for block in self._open):
            return
        while True:
            block = self._open.pop()
            text = tidy("".join(block.texts))
            if text:
                self.sections[self._section].append(Block(block.tag, text))
                if block.name:
                    self.texts[block.name] = text
            if block.tag == tag:
                return

    def handle_data(self, data: str) -> None:
        """Collect text inside a block."""
        if self._open and not self._skipped:
            self._open[-1].texts.append(data)


def read_page(content: bytes) -> Page:
    """Read an HTML page in UTF-8."""
    page = Page()
    page.feed(content.decode("utf-8", errors="replace"))
    return page


def matching_blocks(other: Page, english: Page) -> Iterator[Pair]:
    """Yield the blocks of sections with the same name and tags in both pages, without heading numbers."""
    for name, blocks in other.sections.items():
        twins = english.sections.get(name, [])
        if [block.tag for block in blocks] == [block.tag for block in twins]:
            for block, twin in zip(blocks, twins, strict=True):
                yield Pair(_HEADING_NUMBER.sub("", block.text), _HEADING_NUMBER.sub("", twin.text))


def matching_paragraphs(other: Page, english: Page) -> Iterator[Pair]:
    """Yield the paragraphs and headings with the same `id`, as in LibreOffice's help."""
    for name, text in other.texts.items():
        twin = english.texts.get(name)
        if twin is not None and name.startswith(("par_", "hd_")) and not _SWITCHED.search(twin):
            yield Pair(_MISSING_SPACE.sub(". ", text), _MISSING_SPACE.sub(". ", twin))

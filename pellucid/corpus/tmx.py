"""Translation memories (TMX 1.4) → pairs, as a stream: only one unit is in memory at a time.

Differs from a full TMX reader: inline codes (`bpt`, `ept`, `ph`, `it`, `ut`, with the `sub` texts inside them) are
left out and the text inside `hi` is kept; white space that contains a line end becomes one space. Files that declare
entities are rejected, and nothing outside the file is ever fetched.

Source:
    TMX 1.4b specification, LISA OSCAR 2005.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from html.entities import name2codepoint
from typing import NamedTuple
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler, feature_external_ges
from xml.sax.xmlreader import AttributesImpl, Locator

from defusedxml import DefusedXmlException
from defusedxml.expatreader import create_parser

from pellucid.corpus.languages import choose_languages, find_language, first_subtag
from pellucid.corpus.pairs import Issue, LanguagePair, Location, RawPair
from pellucid.corpus.text_files import read_blocks
from pellucid.errors import UserError

__all__ = ["read_tmx", "tmx_languages"]

_CODES = frozenset({"bpt", "ept", "ph", "it", "ut", "sub"})
_GAPS = frozenset({"ph", "ut"})  # stand for something between words, such as a line break
_BROKEN_SPACE = re.compile(r"\s*[\r\n]\s*")


class _Segment(NamedTuple):
    code: str
    text: str
    line: int


class _Unit(NamedTuple):
    segments: tuple[_Segment, ...]
    line: int


class _BrokenXml(Exception):
    """Raised with a line and a message."""


def tmx_languages(file: str, wanted: LanguagePair) -> LanguagePair:
    """Find the languages of the first unit that has two, the header's source language first.

    Raises:
        UserError: if the file cannot be read, lacks the wanted languages, or has more than two in that unit.
    """
    collector = _Collector()
    try:
        for unit in _units(file, collector):
            codes = _codes(unit)
            if len(codes) >= 2 and not wanted.requested:
                return choose_languages(file, _source_first(codes, collector.source_language), wanted)
            if wanted.requested and all(w is None or find_language(w, codes) for w in wanted[:2]) and len(codes) >= 2:
                return choose_languages(file, codes, wanted)
    except _BrokenXml:
        if wanted.source and wanted.target:
            return wanted
        raise UserError(
            "not a readable TMX file", where=file, hint="Export the translation memory again as TMX 1.4."
        ) from None
    return choose_languages(file, _all_codes(file), wanted)


def read_tmx(file: str, languages: LanguagePair | None) -> Iterator[RawPair]:
    """Yield a pair for each unit; where the XML is broken, a last pair with the issue `tmx`.

    Args:
        languages: of source and target; a code without a region matches every region.

    Raises:
        UserError: if the file cannot be read or declares entities; if no languages were requested and the file
            has a third one.
    """
    assert languages is not None and languages.source is not None and languages.target is not None
    try:
        for unit in _units(file, _Collector()):
            codes = _codes(unit)
            if not languages.requested:
                _reject_third_language(file, codes, languages)
            source, target = (_matching(code, codes, languages) for code in (languages.source, languages.target))
            if source is None and target is None:
                continue
            yield _pair(file, unit, source, target)
    except _BrokenXml as error:
        line, message = error.args
        location = Location(file, line)
        yield RawPair("", "", location, location, (Issue("tmx", location, message),))


def _matching(wanted: str, codes: list[str], languages: LanguagePair) -> str | None:
    """Find the wanted language among a unit's codes; any region matches if no language was requested."""
    found = find_language(wanted, codes)
    sides = {first_subtag(code) for code in languages[:2] if code}
    if found is None and not languages.requested and len(sides) == 2:
        return next((code for code in codes if first_subtag(code) == first_subtag(wanted)), None)
    return found


def _pair(file: str, unit: _Unit, source: str | None, target: str | None) -> RawPair:
    first: dict[str | None, _Segment] = {}
    for segment in unit.segments:
        first.setdefault(segment.code, segment)
    nothing = _Segment("", "", unit.line)
    ours, theirs = first.get(source, nothing), first.get(target, nothing)
    return RawPair(ours.text, theirs.text, Location(file, ours.line), Location(file, theirs.line))


def _codes(unit: _Unit) -> list[str]:
    return list(dict.fromkeys(segment.code for segment in unit.segments))


def _source_first(codes: list[str], header: str) -> list[str]:
    first = find_language(header, codes) if header else None
    return codes if first is None else [first, *(code for code in codes if code != first)]


def _reject_third_language(file: str, codes: list[str], languages: LanguagePair) -> None:
    known = {first_subtag(code) for code in languages[:2] if code}
    if any(first_subtag(code) not in known for code in codes):
        choose_languages(file, _all_codes(file), LanguagePair())


def _all_codes(file: str) -> list[str]:
    """Collect every language of the file, for an error that lists them."""
    codes: dict[str, None] = {}
    with suppress(_BrokenXml):
        for unit in _units(file, _Collector()):
            codes.update(dict.fromkeys(_codes(unit)))
    return list(codes)


def _units(file: str, collector: "_Collector") -> Iterator[_Unit]:
    parser = create_parser(forbid_dtd=False, forbid_entities=True, forbid_external=False)
    parser.setFeature(feature_external_ges, False)  # TMX files name a DTD; it is not fetched
    parser.setContentHandler(collector)
    collector.locator = parser
    try:
        for block in read_blocks(file):
            parser.feed(block)
            yield from collector.take()
        parser.close()
        yield from collector.take()
    except SAXParseException as error:
        yield from collector.take()
        raise _BrokenXml(error.getLineNumber() or 1, f"the XML is broken: {error.getMessage()}") from error
    except LookupError as error:
        raise UserError(
            f"the file declares an unknown encoding: {error}",
            where=file,
            hint="Export the translation memory again as UTF-8, or correct the encoding in the first line.",
        ) from error
    except DefusedXmlException as error:
        raise UserError(
            "the file declares entities and is rejected",
            where=file,
            hint="Export the translation memory again without entities: TMX needs none, and they can be used to "
            "exhaust RAM.",
        ) from error


class _Collector(ContentHandler):
    """Collects units as the parser reports elements; `take` returns the complete ones."""

    def __init__(self) -> None:
        super().__init__()
        self.source_language = ""
        self.locator: Locator | None = None  # the parser; it does not set this itself when it is fed block by block
        self._units: list[_Unit] = []
        self._segments: list[_Segment] = []
        self._text: list[str] | None = None
        self._hidden = 0  # nesting depth of inline codes
        self._gap = False
        self._code = ""
        self._line = self._unit_line = 1

    def take(self) -> list[_Unit]:
        units, self._units = self._units, []
        return units

    def startElement(self, name: str, attrs: AttributesImpl) -> None:
        tag = name.rpartition(":")[2]
        if self._text is not None:
            self._hidden += tag in _CODES
            self._gap |= tag in _GAPS
        elif tag == "seg":
            self._text, self._hidden, self._gap, self._line = [], 0, False, self._line_now()
        elif tag == "tuv":
            self._code = (attrs.get("xml:lang") or attrs.get("lang") or "").strip()
        elif tag == "tu":
            self._segments, self._unit_line = [], self._line_now()
        elif tag == "header":
            language = str(attrs.get("srclang") or "")
            self.source_language = "" if language.lower() == "*all*" else language

    def endElement(self, name: str) -> None:
        tag = name.rpartition(":")[2]
        if tag == "seg" and self._text is not None:
            text = _BROKEN_SPACE.sub(" ", "".join(self._text))
            self._segments.append(_Segment(self._code, text, self._line))
            self._text = None
        elif self._text is not None:
            self._hidden -= tag in _CODES
        elif tag == "tu":
            self._units.append(_Unit(tuple(self._segments), self._unit_line))

    def characters(self, content: str) -> None:
        if self._text is None or self._hidden:
            return
        if self._gap:
            # A code between two words must not join them.
            if self._text and self._text[-1][-1:].isalnum() and content[:1].isalnum():
                self._text.append(" ")
            self._gap = False
        self._text.append(content)

    def skippedEntity(self, name: str) -> None:
        """Insert the character of an HTML entity that the DTD would have declared; keep the spelling of others."""
        self.characters(chr(name2codepoint[name]) if name in name2codepoint else f"&{name};")

    def _line_now(self) -> int:
        line = self.locator.getLineNumber() if self.locator is not None else None
        return line or 1

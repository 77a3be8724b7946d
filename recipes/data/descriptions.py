"""Debian's package descriptions: titles are paired, and paragraphs if both languages have equally many."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from recipes.data.plain_text import Pair

__all__ = ["Description", "Key", "matching_descriptions", "read_descriptions"]

_KEY = re.compile(r"^Package: (.*)\nDescription-md5: (.*)$", re.MULTILINE)
_ITEM = re.compile(r"\s*(?:[*+o·•-]|\d+[.)])\s")
_ITEM_MARK = re.compile(r"^\s*(?:[*+o·•-]|\d+[.)])\s+")
_LISTED = re.compile(r"\s+\S|[*+-] ")
_FIRST_WIDE = "\u2e80"


class Key(NamedTuple):
    """The key of a description: a package, and the English text that it translates."""

    package: str
    md5: str


class Description(NamedTuple):
    """A package's title, and its paragraphs and list items."""

    title: str
    paragraphs: list[str]


def read_descriptions(text: str, language: str) -> dict[Key, Description]:
    """Read apt's list of descriptions in `language` (as in `Description-LANGUAGE:`).

    Wrapped lines are joined by a space; in Chinese, without one where either line has a wide character at the seam.
    """
    body = re.compile(rf"^Description-{language}: (.*)((?:\n .*)*)", re.MULTILINE)
    table = {}
    for stanza in text.split("\n\n"):
        key, description = _KEY.search(stanza), body.search(stanza)
        if key and description:
            title, rest = description.groups()
            paragraphs = [
                _joined(lines, wide=language == "zh_CN") for lines in _paragraphs(rest.split("\n")[1:]) if lines
            ]
            table[Key(*key.groups())] = Description(title, paragraphs)
    return table


def matching_descriptions(other: Mapping[Key, Description], english: Mapping[Key, Description]) -> Iterator[Pair]:
    """Yield titles, and paragraphs if both descriptions have equally many."""
    for key, description in other.items():
        twin = english.get(key)
        if twin is None:
            continue
        yield Pair(description.title, twin.title)
        if len(description.paragraphs) == len(twin.paragraphs):
            yield from map(Pair, description.paragraphs, twin.paragraphs)


def _paragraphs(lines: list[str]) -> Iterator[list[str]]:
    current: list[str] = []
    for line in (line[1:] for line in lines):
        if line.strip() == ".":
            yield current
            current = []
        elif not _LISTED.match(line):
            current.append(line)
        elif _ITEM.match(line) or not current:
            yield current
            current = [_ITEM_MARK.sub("", line).strip()]
        else:
            current.append(line.strip())
    yield current


def _joined(lines: list[str], *, wide: bool) -> str:
    text = lines[0]
    for line in lines[1:]:
        seamless = wide and text and line and max(text[-1], line[0]) > _FIRST_WIDE
        text += line if seamless else " " + line
    return text

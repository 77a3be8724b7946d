"""Program messages from compiled gettext catalogues: the English message is the key of its translation."""

import html
import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from recipes.data.plain_text import Pair

__all__ = ["Message", "message_pairs", "read_catalogue"]

_LITTLE_ENDIAN = b"\xde\x12\x04\x95"
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9_:-]*(?:\s[^<>]*)?/?>")
_TAG_START = re.compile(r"<[A-Za-z/]")
_TAG_WITH_ATTRIBUTES = re.compile(r"<\w+ ")
# What these tags hold or point at is no part of the sentence, or is its missing part.
_REFERENCE = re.compile(r"<(ref|img|a|format|link)\b")
_BLANK_LINE = re.compile(r"\n\s*\n")


class Message(NamedTuple):
    """One entry of a catalogue; `translations` has one text, or one for each plural form of the language."""

    single: str
    plural: str | None
    translations: list[str]


def read_catalogue(data: bytes) -> Iterator[Message]:
    """Read the bytes of a .mo file; its header (the empty key) and entries that are not UTF-8 are left out.

    Source:
        GNU gettext manual, "The Format of GNU MO Files".
    """
    order = "<" if data[:4] == _LITTLE_ENDIAN else ">"
    count, keys, values = struct.unpack(order + "3I", data[8:20])

    def text(table: int, index: int) -> str:
        length, start = struct.unpack_from(order + "2I", data, table + 8 * index)
        return data[start : start + length].decode("utf-8")

    for index in range(count):
        try:
            key, value = text(keys, index), text(values, index)
        except UnicodeDecodeError:
            continue
        if key:
            context_free = key.split("\x04", 1)[-1]
            single, _, plural = context_free.partition("\0")
            yield Message(single, plural or None, value.split("\0"))


def message_pairs(message: Message, *, hinted: bool = False) -> Iterator[Pair]:
    """Yield a message's pairs without markup, one per paragraph if both sides have equally many.

    Args:
        hinted: whether a hint for translators may stand before the text, set off by `^`, as in Wesnoth.
    """
    for source, target in _forms(message):
        if hinted:
            source, target = source.rpartition("^")[2], target.rpartition("^")[2]
        sources, targets = (_BLANK_LINE.split(text.strip()) for text in (source, target))
        if len(sources) != len(targets):
            sources, targets = [source], [target]
        for other, english in zip(sources, targets, strict=True):
            if not _holds_reference(other, english):
                yield Pair(_without_tags(other), _without_tags(english))


def _forms(message: Message) -> list[Pair]:
    if message.plural is None:
        return [Pair(message.translations[0], message.single)]
    if len(message.translations) == 1:
        return [Pair(message.translations[0], message.plural)]
    return [Pair(message.translations[0], message.single), Pair(message.translations[1], message.plural)]


def _holds_reference(other: str, english: str) -> bool:
    uneven = len(_TAG_START.findall(other)) != len(_TAG_START.findall(english))
    return bool((uneven or _TAG_WITH_ATTRIBUTES.search(english)) and _REFERENCE.search(english))


def _without_tags(text: str) -> str:
    return html.unescape(_TAG.sub("", text))

r"""Fix marks and control characters that are not part of a text.

Byte order marks are removed; characters that other programs treat as line ends, tabs and unit separators become a
space; other control characters and white space around a sentence are removed. Everything else is unchanged: no
normalisation, no change of case, quotes or inner spaces. In a line of a longer text, tabs and the white space at both
ends are kept.
"""

import re
from typing import NamedTuple

__all__ = ["Cleaned", "clean", "clean_line"]

# The characters at which Python's splitlines ends a line, except "\n" and "\r\n".
_SEPARATORS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_SPACES = re.compile("[\t\x1f]")
_UNIT_SEPARATORS = re.compile("\x1f")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
_MARK = "\ufeff"


class Cleaned(NamedTuple):
    """A cleaned text, and the checks whose issues were fixed in it, each with a message."""

    text: str
    fixed: tuple[tuple[str, str], ...] = ()


def clean(text: str) -> Cleaned:
    """Clean a sentence, and list what was fixed."""
    if text.isprintable():  # true for most lines: no control characters, and no spaces but U+0020
        return Cleaned(text.strip(" "))
    text, mark = _without_mark(text)
    fixed = _replace_controls(text.strip(" \t\r\n"), _SPACES)
    return Cleaned(fixed.text.strip(), mark + fixed.fixed)


def clean_line(text: str) -> Cleaned:
    """Clean a line of a longer text, keeping its white space, and list what was fixed."""
    if text.isprintable():
        return Cleaned(text)
    text, mark = _without_mark(text)
    fixed = _replace_controls(text, _UNIT_SEPARATORS)
    return Cleaned(fixed.text, mark + fixed.fixed)


def _without_mark(text: str) -> Cleaned:
    if _MARK not in text:
        return Cleaned(text)
    return Cleaned(text.replace(_MARK, ""), (("bom", "a byte order mark (U+FEFF)"),))


def _replace_controls(text: str, spaces: re.Pattern[str]) -> Cleaned:
    fixed: list[tuple[str, str]] = []
    for pattern, replacement, check in (
        (_SEPARATORS, " ", "line-separator"),
        (spaces, " ", "control-character"),
        (_CONTROLS, "", "control-character"),
    ):
        if match := pattern.search(text):
            fixed.append((check, f"U+{ord(match[0][-1]):04X} at character {match.start() + 1}"))
            text = pattern.sub(replacement, text)
    return Cleaned(text, tuple(fixed))

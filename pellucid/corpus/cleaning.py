r"""What is mended in a text without a question: marks and controls that are no part of it.

A byte order mark is dropped; characters that other programs take for line ends become a space; so do the tab and the
unit separator; other control characters are dropped; white space around a sentence is dropped. Everything else stays as
it is: no normalisation, no change of case, quotes or inner spaces. In a line of a longer text the tab and the white
space at both ends belong to it and stay.
"""

import re
from typing import NamedTuple

__all__ = ["Cleaned", "clean", "clean_line"]

# The characters at which Python's splitlines ends a line, but for "\n" and "\r\n": N3 of the hard inputs' kind.
_SEPARATORS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_SPACES = re.compile("[\t\x1f]")
_UNIT_SEPARATORS = re.compile("\x1f")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
_MARK = "\ufeff"


class Cleaned(NamedTuple):
    """A text, and the checks whose faults were mended in it, with a message each."""

    text: str
    fixed: tuple[tuple[str, str], ...] = ()


def clean(text: str) -> Cleaned:
    """Return the text without what is no part of it, and what that was."""
    if text.isprintable():  # true of most lines: no controls, and no spaces but the plain one
        return Cleaned(text.strip(" "))
    text, mark = _without_mark(text)
    fixed = _fixed(text.strip(" \t\r\n"), _SPACES)
    return Cleaned(fixed.text.strip(), mark + fixed.fixed)


def clean_line(text: str) -> Cleaned:
    """Return a line of a longer text without what is no part of it, and what that was; its white space stays."""
    if text.isprintable():
        return Cleaned(text)
    text, mark = _without_mark(text)
    fixed = _fixed(text, _UNIT_SEPARATORS)
    return Cleaned(fixed.text, mark + fixed.fixed)


def _without_mark(text: str) -> Cleaned:
    if _MARK not in text:
        return Cleaned(text)
    return Cleaned(text.replace(_MARK, ""), (("bom", "a byte order mark (U+FEFF)"),))


def _fixed(text: str, spaces: re.Pattern[str]) -> Cleaned:
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

r"""Backslash escapes for words with spaces or line feeds, in formats that cannot hold them; used on request only.

    \s space    \t tab    \n line feed    \r \v \f    \b byte order mark    \\ backslash    \e the empty word

A file does not record that it is escaped, and other programs do not know the escapes: they must be requested again when
reading.
"""

import re

__all__ = ["escape", "unescape"]

_ESCAPES = {" ": r"\s", "\t": r"\t", "\n": r"\n", "\r": r"\r", "\v": r"\v", "\f": r"\f", "\ufeff": r"\b", "\\": "\\\\"}
_MEANINGS = {escaped: character for character, escaped in _ESCAPES.items()}
_NOTHING = r"\e"
_TO_ESCAPE = re.compile("[" + "".join(map(re.escape, _ESCAPES)) + "]")
_ESCAPED = re.compile(r"\\(?:.|$)", re.DOTALL)


def escape(word: str) -> str:
    r"""Escape spaces, line breaks and backslashes in a word; the empty word is `\e`."""
    return _TO_ESCAPE.sub(lambda found: _ESCAPES[found[0]], word) if word else _NOTHING


def unescape(text: str) -> str:
    """Decode a word written by `escape`.

    Raises:
        ValueError: for an invalid escape.
    """
    return "" if text == _NOTHING else _ESCAPED.sub(_meaning, text)


def _meaning(found: re.Match[str]) -> str:
    if found[0] not in _MEANINGS:
        raise ValueError(f"{found[0]} is not an escape")
    return _MEANINGS[found[0]]

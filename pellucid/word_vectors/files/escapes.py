r"""Words with spaces or line feeds, in forms that cannot hold them: written with a backslash, on request only.

    \s space    \t tab    \n line feed    \r \v \f    \b byte order mark    \\ backslash    \e nothing at all

Nothing in a file says that it is escaped, and other programs do not know it: whoever asked for it says so again when
reading.
"""

import re

__all__ = ["escape", "unescape"]

_ESCAPES = {
    " ": r"\s",
    "\t": r"\t",
    "\n": r"\n",
    "\r": r"\r",
    "\v": r"\v",
    "\f": r"\f",
    "\ufeff": r"\b",
    "\\": "\\\\",
}
_MEANINGS = {escaped: character for character, escaped in _ESCAPES.items()}
_NOTHING = r"\e"
_TO_ESCAPE = re.compile("[" + "".join(map(re.escape, _ESCAPES)) + "]")
_ESCAPED = re.compile(r"\\(?:.|$)", re.DOTALL)


def escape(word: str) -> str:
    r"""Return `word` without spaces, line ends or backslashes of its own; the empty word is `\e`."""
    return _TO_ESCAPE.sub(lambda found: _ESCAPES[found[0]], word) if word else _NOTHING


def unescape(text: str) -> str:
    """Return the word that `escape` wrote as `text`.

    Raises:
        ValueError: if a backslash is followed by anything that `escape` does not write.
    """
    return "" if text == _NOTHING else _ESCAPED.sub(_meaning, text)


def _meaning(found: re.Match[str]) -> str:
    if found[0] not in _MEANINGS:
        raise ValueError(f"{found[0]} is no escape")
    return _MEANINGS[found[0]]

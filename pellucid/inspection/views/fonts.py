"""Fonts for pictures with Chinese, Japanese, Korean or emoji: what a PNG needs, and what to install.

HTML and SVG name a list of fonts and leave the choice to the viewer. A PNG is drawn here, with the fonts of this
system, and a character that none of them has would be drawn as an empty box.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from fontTools.ttLib import TTCollection, TTFont, TTLibError

from pellucid.errors import UserError

__all__ = ["FOLDERS", "STACK", "require_fonts"]

STACK = (
    "'Noto Sans','Helvetica Neue',Arial,'Noto Sans CJK SC','PingFang SC','Hiragino Sans GB','Microsoft YaHei',"
    "'WenQuanYi Micro Hei','Noto Color Emoji','Apple Color Emoji','Segoe UI Emoji',sans-serif"
)

FOLDERS = (
    Path("/usr/share/fonts"),
    Path("/usr/local/share/fonts"),
    Path("~/.fonts").expanduser(),
    Path("~/.local/share/fonts").expanduser(),
    Path("/System/Library/Fonts"),
    Path("/Library/Fonts"),
    Path("C:/Windows/Fonts"),
)


class _Script(NamedTuple):
    """Characters that not every font has, and a package of fonts that have them."""

    name: str
    characters: re.Pattern[str]
    package: str


_SCRIPTS = (
    _Script(
        "Chinese, Japanese or Korean",
        re.compile(
            "[\u1100-\u11ff\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
            "\U00020000-\U0003ffff]"
        ),
        "fonts-noto-cjk",
    ),
    _Script("symbols and emoji", re.compile("[\u2600-\u27bf\U0001f000-\U0001faff]"), "fonts-noto-color-emoji"),
)


def require_fonts(text: str) -> None:
    """Check that this system has fonts for the characters of a picture.

    Raises:
        UserError: if it has none for some of them; the hint names a package.
    """
    for script in _SCRIPTS:
        if missing := _uncovered(set(script.characters.findall(text))):
            raise UserError(
                f"this system has no font for {script.name} that can draw {min(missing)}",
                where="PNG",
                hint=f"Install one (on Debian and Ubuntu: the package {script.package}), or save as .html or .svg.",
            )


def _uncovered(characters: set[str]) -> set[str]:
    """Find the characters that no font of this system has."""
    for file in _font_files(FOLDERS):
        if not characters:
            break
        codes = _character_codes(file)
        characters = {character for character in characters if ord(character) not in codes}
    return characters


def _font_files(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        if folder.is_dir():
            yield from (file for file in sorted(folder.rglob("*")) if file.suffix.lower() in (".ttf", ".otf", ".ttc"))


@cache
def _character_codes(file: Path) -> frozenset[int]:
    """Read which characters a font file has; none if it cannot be read."""
    try:
        with file.open("rb") as stream:
            is_collection = file.suffix.lower() == ".ttc"
            fonts = TTCollection(stream, lazy=True).fonts if is_collection else [TTFont(stream, lazy=True)]
            return frozenset(code for font in fonts for code in font.getBestCmap() or ())
    except (OSError, TTLibError):
        return frozenset()

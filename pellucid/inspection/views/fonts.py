"""Fonts for pictures that hold Chinese, Japanese, Korean or emoji: what a PNG needs, and what to install.

HTML and SVG name a stack of fonts and leave the rest to whoever shows them. A PNG is drawn here, with the fonts of this
system, and where one is missing empty boxes would be drawn without a word.
"""

import re
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

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


_CJK_FILES = (
    "noto*cjk*", "notosans[sjtkh]c*", "notoserif[sjtkh]c*", "sourcehan*", "wqy*", "droidsansfallback*", "pingfang*",
    "hiragino*", "stheiti*", "songti*", "msyh*", "simsun*", "simhei*", "arialuni*", "uming*", "ukai*", "malgun*",
    "yugoth*", "unifont*",
)  # fmt: skip
_EMOJI_FILES = ("noto*emoji*", "apple color emoji*", "seguiemj*", "twemoji*", "symbola*", "unifont*")


class _Kind(NamedTuple):
    """A kind of character that not every font has."""

    name: str
    characters: re.Pattern[str]
    files: tuple[str, ...]
    package: str


_KINDS = (
    _Kind(
        "Chinese, Japanese or Korean",
        re.compile(
            "[\u1100-\u11ff\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
            "\U00020000-\U0003ffff]"
        ),
        _CJK_FILES,
        "fonts-noto-cjk",
    ),
    _Kind("symbols", re.compile("[\u2600-\u27bf]"), (*_EMOJI_FILES, "dejavusans*"), "fonts-noto-color-emoji"),
    # DejaVu Sans has faces, cats and cards of these, and for all others empty boxes.
    _Kind("emoji", re.compile("[\U0001f000-\U0001faff]"), _EMOJI_FILES, "fonts-noto-color-emoji"),
)  # fmt: skip


def require_fonts(text: str) -> None:
    """Make sure that this system has fonts for the characters of a picture.

    Raises:
        UserError: if it has none for some of them; the hint names a package.
    """
    for kind in _KINDS:
        found = kind.characters.search(text)
        if found and not _has(kind.files):
            raise UserError(
                f"this system has no font for {kind.name} that could draw {found[0]}",
                where="a PNG",
                hint=f"Install one (on Debian and Ubuntu: the package {kind.package}), or save as .html or .svg.",
            )


def _has(patterns: Iterable[str]) -> bool:
    patterns = tuple(patterns)
    for folder in FOLDERS:
        if not folder.is_dir():
            continue
        for file in folder.rglob("*"):
            if file.suffix.lower() in (".ttf", ".ttc", ".otf") and any(fnmatch(file.name.lower(), p) for p in patterns):
                return True
    return False

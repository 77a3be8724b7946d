"""Split sentences into words without a vocabulary or training, in the same way for every language.

Text in scripts without spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese, …) is split into single
characters; other text into runs of letters, runs of digits, and single punctuation marks.
"""

import re
import unicodedata
from functools import cache

__all__ = ["UNSPACED", "is_unspaced", "split_words"]

# Blocks of scripts without spaces between words, for use inside a character class; Unicode 16, chapters 16 to 18.
UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff"  # Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u1950-\u19df\u1a20-\u1aaf"  # Tai Le, New Tai Lue, Tai Tham
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303c"  # Han radicals, marks and numerals
    "\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f\U0001b000-\U0001b16f"  # kana
    "\u3105-\u312f\u31a0-\u31bf"  # bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\ua000-\ua4cf"  # Yi
    "\ua980-\ua9df\u1b00-\u1b7f"  # Javanese, Balinese
    "\uaa80-\uaadf"  # Tai Viet
)
_JOINERS = "\u200c\u200d"  # occur inside words of Persian and Hindi, and inside emoji


def split_words(text: str) -> list[str]:
    """Split `text` into words; joined, they are the text without its white space.

    A combining mark stays with its base character, and digits of any script count as digits. Only white space is
    dropped and nothing is changed: case, apostrophes and full-width forms are left to the caller.
    """
    return _pattern().findall(text)


def is_unspaced(word: str) -> bool:
    """Whether `word` begins with a character of a script without spaces between words."""
    return _unspaced().match(word) is not None


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{UNSPACED}]")


@cache
def _pattern() -> re.Pattern[str]:
    marks = _marks()
    letter = rf"[^\W\d_{UNSPACED}]"
    return re.compile(
        rf"\d+"
        rf"|{letter}(?:{letter}|[{marks}{_JOINERS}])*"
        rf"|\S[{marks}{_JOINERS}]*"
    )


def _marks() -> str:
    """All combining marks, for use inside a character class: `re` has no class for them."""
    is_mark = [unicodedata.category(chr(code))[0] == "M" for code in range(0x20000)] + [False]
    ranges, start = [], None
    for code, mark in enumerate(is_mark):
        if mark and start is None:
            start = code
        elif not mark and start is not None:
            ranges.append(f"{chr(start)}-{chr(code - 1)}")
            start = None
    return "".join(ranges) + "\U000e0100-\U000e01ef"

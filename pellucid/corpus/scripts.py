"""Detect the script of a text by ranges of code points.

Source:
    Unicode 15.1, Blocks.txt and Scripts.txt; blocks approximate scripts well enough for the letters of sentences.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache

__all__ = ["SCRIPTS", "count_scripts", "letter_pattern", "script_of_language"]

SCRIPTS: Mapping[str, str] = {
    "Latin": "A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u1e00-\u1eff\u2c60-\u2c7f\ua720-\ua7ff"
    "\uff21-\uff3a\uff41-\uff5a",
    "Greek": "\u0370-\u0373\u0376\u0377\u037b-\u037d\u0386\u0388-\u03ff\u1f00-\u1fff",
    "Cyrillic": "\u0400-\u0481\u048a-\u052f\u1c80-\u1c88\u2de0-\u2dff\ua640-\ua69f",
    "Armenian": "\u0531-\u0556\u0561-\u0587",
    "Hebrew": "\u05d0-\u05ea\u05ef-\u05f2\ufb1d-\ufb4f",
    "Arabic": "\u0620-\u064a\u066e-\u06d3\u06ee-\u06ff\u0750-\u077f\u08a0-\u08c9\ufb50-\ufdff\ufe70-\ufefc",
    "Devanagari": "\u0900-\u0963\u0970-\u097f",
    "Bengali": "\u0980-\u09e3",
    "Gurmukhi": "\u0a01-\u0a65\u0a70-\u0a75",
    "Gujarati": "\u0a81-\u0ae3",
    "Oriya": "\u0b01-\u0b63",
    "Tamil": "\u0b82-\u0bd7",
    "Telugu": "\u0c00-\u0c63",
    "Kannada": "\u0c80-\u0ce3",
    "Malayalam": "\u0d00-\u0d63",
    "Sinhala": "\u0d81-\u0ddf",
    "Thai": "\u0e01-\u0e4e",
    "Lao": "\u0e81-\u0ecd",
    "Tibetan": "\u0f00\u0f40-\u0fbc",
    "Myanmar": "\u1000-\u103f\u1050-\u109d",
    "Georgian": "\u10a0-\u10ff\u1c90-\u1cbf",
    "Ethiopic": "\u1200-\u135a",
    "Khmer": "\u1780-\u17d3",
    "Mongolian": "\u1820-\u18aa",
    "Hangul": "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3",
    "Kana": "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9d",
    "Han": "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af",
}

_LANGUAGES: Mapping[str, str] = {
    "Han": "zh yue wuu lzh",
    "Kana": "ja",
    "Hangul": "ko",
    "Cyrillic": "ru uk be bg mk kk ky tg mn tt ba cv",
    "Greek": "el grc",
    "Hebrew": "he yi",
    "Arabic": "ar fa ur ps ckb sd ug",
    "Devanagari": "hi mr ne sa bho mai",
    "Bengali": "bn as",
    "Gurmukhi": "pa",
    "Gujarati": "gu",
    "Oriya": "or",
    "Tamil": "ta",
    "Telugu": "te",
    "Kannada": "kn",
    "Malayalam": "ml",
    "Sinhala": "si",
    "Thai": "th",
    "Lao": "lo",
    "Tibetan": "bo dz",
    "Myanmar": "my",
    "Georgian": "ka",
    "Armenian": "hy",
    "Ethiopic": "am ti",
    "Khmer": "km",
    "Latin": "en de fr es it pt nl sv da no nb nn fi et lv lt pl cs sk sl hr hu ro tr vi id ms tl sw eu ca gl cy ga is",
}
_SCRIPT_OF = {code: script for script, codes in _LANGUAGES.items() for code in codes.split()}


def script_of_language(code: str | None) -> str | None:
    """The script that a language is usually written in; None if it is not in the table."""
    if code is None:
        return None
    language, _, rest = code.lower().replace("_", "-").partition("-")
    if any(len(part) == 4 and part.isalpha() for part in rest.split("-")):  # sr-Latn, zh-Hant
        return "Han" if language == "zh" else None
    return _SCRIPT_OF.get(language)


@cache
def letter_pattern(*scripts: str) -> re.Pattern[str]:
    """Compile a pattern that matches one letter of these scripts."""
    return re.compile(f"[{''.join(SCRIPTS[script] for script in scripts)}]")


def count_scripts(texts: Iterable[str]) -> Counter[str]:
    """Count the letters of each script."""
    characters: Counter[str] = Counter()
    for text in texts:
        characters.update(text)
    counts: Counter[str] = Counter()
    patterns = {script: re.compile(f"[{ranges}]") for script, ranges in SCRIPTS.items()}
    for character, count in characters.items():
        for script, pattern in patterns.items():
            if pattern.match(character):
                counts[script] += count
                break
    return counts

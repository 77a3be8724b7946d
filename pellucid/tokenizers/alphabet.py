"""The characters a tokenizer knows, and the escaping that makes every text writable with them.

All kinds of tokenizer share this layer, so the laws hold for all of them by construction. A model never sees the text
itself but its escaped form, which is made of nothing but

- the characters of the alphabet, chosen from the training text,
- the space mark `▁`, which stands for a space,
- 256 private characters, one for each byte value: whatever is not in the alphabet becomes its bytes in UTF-8,
- 10 private characters for the placeholders, which `Tokenizer.encode_segments` alone can write.

A `▁` or a private character in the text is itself outside the alphabet and becomes bytes: nothing in a text can be
taken for a mark. Special tokens (padding, start, end) have no written form at all.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from pellucid.corpus.words import UNSPACED
from pellucid.tokenizers.pieces import lone_surrogate_error

__all__ = ["BYTES", "PLACEHOLDERS", "SEPARATOR", "SPACE_MARK", "Alphabet", "choose_alphabet", "is_reserved"]

SPACE_MARK = "\u2581"
BYTES = tuple(chr(0xF0000 + value) for value in range(256))
PLACEHOLDERS = tuple(chr(0xF0100 + number) for number in range(10))
SEPARATOR = chr(0xF01FF)  # between words on their way to a trainer; never in an escaped text
_PRIVATE = f"{BYTES[0]}-{SEPARATOR}"

_MAX_LETTERS = 64  # bound the work on one word; the longest words that occur in a language's text are shorter
_MAX_SYMBOLS = 16
_ALWAYS_KEPT = 300  # most frequent characters that coverage does not touch: the alphabets of Europe, twice
_JOINERS = "\u200c\u200d"  # stand inside words of Persian and Hindi

_IS_UNSPACED = re.compile(f"[{UNSPACED}]")


@dataclass(frozen=True)
class Alphabet:
    """The characters that are written as themselves, by what they do in a text; each string is sorted.

    The classes are stored, not looked up again: Unicode's tables differ between versions of Python, and a tokenizer
    must give the same ids everywhere.

    Attributes:
        letters: of scripts with spaces between words, and their combining marks.
        unspaced: letters of scripts without (Han, kana, Thai, …).
        digits: decimal digits of any script; each becomes a piece of its own.
        symbols: everything else: punctuation, emoji, control characters, spaces other than U+0020.
    """

    letters: str = ""
    unspaced: str = ""
    digits: str = ""
    symbols: str = ""

    @cached_property
    def base_symbols(self) -> tuple[str, ...]:
        """What escaped text is made of, in the order of the ids: the bytes, the space mark, the characters."""
        return (*BYTES, SPACE_MARK, *sorted(self.letters + self.unspaced + self.digits + self.symbols))

    @cached_property
    def _foreign(self) -> re.Pattern[str]:
        return re.compile("[^ " + "".join(re.escape(character) for character in self.base_symbols[257:]) + "]+")

    @cached_property
    def _word(self) -> re.Pattern[str]:
        letters, unspaced, digits, symbols = (
            f"[{re.escape(characters)}]" if characters else ""
            for characters in (self.letters, self.unspaced, self.digits, self.symbols)
        )
        alternatives = [
            letters and f"{SPACE_MARK}?{letters}{{1,{_MAX_LETTERS}}}",
            unspaced and f"{unspaced}{{1,{_MAX_LETTERS}}}",
            digits,
            symbols and f"{SPACE_MARK}?{symbols}{{1,{_MAX_SYMBOLS}}}",
            f"[{_PRIVATE}{SPACE_MARK}]",
        ]
        return re.compile("|".join(filter(None, alternatives)))

    @cached_property
    def _mark_before(self) -> frozenset[str]:
        return frozenset(self.letters) | {SPACE_MARK}

    def escape(self, text: str) -> str:
        """Return `text` with nothing in it but signs; its inverse is joining the signs' bytes.

        Raises:
            UserError: at a lone surrogate, which is no character and has no bytes in UTF-8.
        """
        try:
            return self._foreign.sub(_as_bytes, text).replace(" ", SPACE_MARK)
        except UnicodeEncodeError:
            raise lone_surrogate_error(text) from None

    def mark_start(self, escaped: str) -> str:
        """Return an escaped text with the space mark before its first word.

        So a word has the same pieces at the start of a text as inside. Only letters of spaced scripts get it, and a
        space, so that what decoding takes away, one leading space, was always put there by this rule.
        """
        return SPACE_MARK + escaped if escaped[:1] in self._mark_before else escaped

    def split(self, escaped: str) -> list[str]:
        """Split an escaped text into words, the units that no piece reaches across; joined they are the text.

        A word is a run of letters or of symbols with the space mark before it, a run of unspaced letters, one digit,
        one byte, one placeholder, or a space mark that has no letter or symbol behind it.
        """
        return self._word.findall(escaped)


def choose_alphabet(counts: Mapping[str, int], coverage: float, limit: int | None) -> Alphabet:
    """Choose the characters that make up the share `coverage` of a text, the most frequent first.

    Args:
        counts: how often each character occurs.
        coverage: share of the text, at most 1. The 300 most frequent characters are taken whatever it says.
        limit: most characters to take; None for no limit.
    """
    usable = [
        (-count, character)
        for character, count in counts.items()
        if count > 0 and character != " " and not is_reserved(character)
    ]
    wanted = coverage * -sum(count for count, _ in usable)
    covered, chosen = 0, list[str]()
    for count, character in sorted(usable)[:limit]:
        if covered >= wanted and len(chosen) >= _ALWAYS_KEPT:
            break
        covered -= count
        chosen.append(character)
    classes: dict[str, list[str]] = {"letters": [], "unspaced": [], "digits": [], "symbols": []}
    for character in sorted(chosen):
        classes[_class_of(character)].append(character)
    return Alphabet(**{name: "".join(base_symbols) for name, base_symbols in classes.items()})


def is_reserved(character: str) -> bool:
    """Tell whether a character may not be in an alphabet: marks, and what the libraries below do not carry."""
    return character in (SPACE_MARK, "\0") or BYTES[0] <= character <= SEPARATOR or "\ud800" <= character <= "\udfff"


def _class_of(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Nd":
        return "digits"
    if _IS_UNSPACED.match(character) and (category[0] in "LMN" or category == "So"):
        return "unspaced"
    return "letters" if category[0] in "LM" or character in _JOINERS else "symbols"


def _as_bytes(match: re.Match[str]) -> str:
    return "".join([BYTES[value] for value in match[0].encode("utf-8")])

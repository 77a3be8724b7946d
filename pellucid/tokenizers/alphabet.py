"""The characters that a tokenizer knows, and the escaping that makes every text representable with them.

All kinds of tokenizer share this layer, so lossless decoding holds for all of them by construction. A model never sees
the text itself but its escaped form, which consists of

- the characters of the alphabet, chosen from the training text,
- the space mark `▁` for a space,
- 256 private characters, one for each byte: characters outside the alphabet become their UTF-8 bytes,
- 10 private characters for the placeholders, which only `Tokenizer.encode_segments` can write.

A `▁` or a private character in the text is itself outside the alphabet and becomes bytes: nothing in a text can be
mistaken for a mark. Special tokens (padding, start, end) have no written form at all.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from pellucid.corpus.words import is_unspaced
from pellucid.tokenizers.pieces import lone_surrogate_error

__all__ = ["BYTES", "PLACEHOLDERS", "SEPARATOR", "SPACE_MARK", "Alphabet", "choose_alphabet", "is_reserved"]

SPACE_MARK = "\u2581"
BYTES = tuple(chr(0xF0000 + value) for value in range(256))
PLACEHOLDERS = tuple(chr(0xF0100 + number) for number in range(10))
SEPARATOR = chr(0xF01FF)  # separates words passed to a trainer; never in an escaped text
_PRIVATE = f"{BYTES[0]}-{SEPARATOR}"

_MAX_LETTERS = 64  # bounds the work for one word; real words are shorter
_MAX_SYMBOLS = 16
_ALWAYS_KEPT = 300  # most frequent characters, kept whatever the coverage: twice the alphabets of Europe
_JOINERS = "\u200c\u200d"  # occur inside words of Persian and Hindi


@dataclass(frozen=True)
class Alphabet:
    """The characters that represent themselves, by class; each string is sorted.

    The classes are stored, because Unicode's tables differ between versions of Python and a tokenizer must give the
    same ids everywhere.

    Attributes:
        letters: letters of scripts with spaces between words, and their combining marks.
        unspaced: letters of scripts without spaces (Han, kana, Thai, …).
        digits: decimal digits of any script; each becomes a piece of its own.
        symbols: everything else: punctuation, emoji, control characters, spaces other than U+0020.
    """

    letters: str = ""
    unspaced: str = ""
    digits: str = ""
    symbols: str = ""

    @cached_property
    def base_symbols(self) -> tuple[str, ...]:
        """The symbols of escaped text in the order of their ids: the bytes, the space mark, the characters."""
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
        """Escape `text` into base symbols; the inverse is joining the symbols' bytes.

        Raises:
            UserError: for a lone surrogate, which has no UTF-8 bytes.
        """
        try:
            return self._foreign.sub(_as_bytes, text).replace(" ", SPACE_MARK)
        except UnicodeEncodeError:
            raise lone_surrogate_error(text) from None

    def mark_start(self, escaped: str) -> str:
        """Put the space mark before the first word of an escaped text.

        A word then has the same pieces at the start of a text as inside. Only letters of spaced scripts and spaces get
        it, so that the one leading space that decoding removes was always added by this rule.
        """
        return SPACE_MARK + escaped if escaped[:1] in self._mark_before else escaped

    def split(self, escaped: str) -> list[str]:
        """Split an escaped text into words; no piece crosses a word boundary, and the words joined are the text.

        A word is a run of letters or of symbols with the space mark before it, a run of unspaced letters, one digit,
        one byte, one placeholder, or a space mark without a letter or symbol after it.
        """
        return self._word.findall(escaped)


def choose_alphabet(counts: Mapping[str, int], coverage: float, limit: int | None) -> Alphabet:
    """Choose the most frequent characters that together make up the share `coverage` of a text.

    Args:
        counts: how often each character occurs.
        coverage: share of the text, at most 1. The 300 most frequent characters are always taken.
        limit: maximum number of characters; None for no limit.
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
    """Whether a character cannot be in an alphabet: marks, and characters that the libraries cannot handle."""
    return character in (SPACE_MARK, "\0") or BYTES[0] <= character <= SEPARATOR or "\ud800" <= character <= "\udfff"


def _class_of(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Nd":
        return "digits"
    if is_unspaced(character) and (category[0] in "LMN" or category == "So"):
        return "unspaced"
    return "letters" if category[0] in "LM" or character in _JOINERS else "symbols"


def _as_bytes(match: re.Match[str]) -> str:
    return "".join([BYTES[value] for value in match[0].encode("utf-8")])

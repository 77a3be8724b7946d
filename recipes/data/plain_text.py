"""Shared by the sets: normal white space, keys of near-identical texts, a fixed shuffle."""

import hashlib
import re
import unicodedata
from typing import NamedTuple

__all__ = ["HAN", "Pair", "bare", "rank", "tidy", "words"]

HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
# Soft hyphen, zero-width space, byte-order mark: seen in the packages, no part of the text.
_INVISIBLE = str.maketrans("", "", "\u00ad\u200b\ufeff")
# Another salt would hold out other sentences: changing it makes another set.
_HELD_OUT_SALT = "w2t-2026"


class Pair(NamedTuple):
    """A text and its translation."""

    source: str
    target: str


def tidy(text: str) -> str:
    """Normalise `text` to NFC on one line with single spaces."""
    text = unicodedata.normalize("NFC", text).translate(_INVISIBLE)
    return re.sub(r"[\s\u00a0\u202f\u2009\u3000]+", " ", text).strip()


def bare(text: str) -> str:
    """The case-folded letters of `text`: texts with one key differ only in case, digits or punctuation."""
    return re.sub(r"[\W\d_]+", "", text.casefold())


def words(text: str) -> float:
    """The approximate size of `text` in words; a Chinese character counts as 0.6."""
    return len(re.findall(r"[^\W_]+", HAN.sub(" ", text))) + 0.6 * len(HAN.findall(text))


def rank(text: str, salt: str = _HELD_OUT_SALT) -> str:
    """A key that sorts texts into an arbitrary order that is the same everywhere."""
    return hashlib.sha256((salt + text).encode()).hexdigest()

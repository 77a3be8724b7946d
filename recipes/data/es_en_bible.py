"""The Bible in Spanish and English, verse by verse, from the SWORD modules packaged by Debian.

Reina-Valera 1909 and the World English Bible, both public domain. Verses meet by book, chapter and verse. Whole
chapters are held out, so that no neighbour of a test verse is ever trained on.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from recipes.data.plain_text import Pair, bare, rank, tidy

__all__ = ["Chapter", "Sizes", "Verse", "hold_out_chapters", "join", "read_verses"]

_ENTRY = "$$$"
_STRONG_NUMBER_OR_PILCROW = re.compile(r"<[GH]?\d+>|¶")


class Chapter(NamedTuple):
    """The name of a chapter, both parts as the module writes them."""

    book: str
    number: str


class Verse(NamedTuple):
    """The reference of a verse."""

    chapter: Chapter
    number: str


class Sizes(NamedTuple):
    """How many pairs are held out, and how many are drawn for that before those also found in training are dropped."""

    test: int = 2000
    valid: int = 1000
    test_drawn: int = 2060
    valid_drawn: int = 1120


def read_verses(listing: str) -> dict[Verse, str]:
    """Parse the output of SWORD's `mod2imp -s`: `$$$Genesis 1:1`, then the verse's text, markup already stripped.

    Headings stand under chapter or verse 0 and are left out, and so are empty verses.
    """
    found = {}
    for entry in listing.split(_ENTRY)[1:]:
        key, _, body = entry.partition("\n")
        place = re.fullmatch(r"(.+) (\d+):(\d+)", key.strip())
        if not place or "0" in place.group(2, 3):
            continue
        text = tidy(_STRONG_NUMBER_OR_PILCROW.sub(" ", body))
        text = re.sub(r"\s+([,.;:!?])", r"\1", text)
        text = re.sub(r"\[\s*|\s*\]", "", text)
        if text:
            book, chapter, verse = place.groups()
            found[Verse(Chapter(book, chapter), verse)] = text
    return found


def join(spanish: Mapping[Verse, str], english: Mapping[Verse, str]) -> list[tuple[Chapter, Pair]]:
    """Pair the verses with the same reference, in the order of `spanish`, each pair of texts once.

    The two Bibles number some verses differently; where they do, the lengths disagree, and such verses are left out.
    """
    rows = []
    seen = set()
    for place, source in spanish.items():
        target = english.get(place)
        if target is None or not 0.45 <= len(source) / len(target) <= 2.2:
            continue
        key = (bare(source), bare(target))
        if key not in seen:
            seen.add(key)
            rows.append((place.chapter, Pair(source, target)))
    return rows


def hold_out_chapters(rows: Iterable[tuple[Chapter, Pair]], sizes: Sizes = Sizes()) -> dict[str, list[Pair]]:  # noqa: B008
    """Split into `train`, `valid` and `test` by whole chapters, chosen by a fixed shuffle.

    A held-out pair whose source or target also stands in training (but for case, digits and punctuation) is dropped.
    """
    rows = list(rows)
    lengths = Counter(chapter for chapter, _ in rows)
    part_of = {}
    drawn = 0
    for chapter in sorted(lengths, key=lambda chapter: rank(" ".join(chapter))):
        is_test, is_valid = drawn < sizes.test_drawn, drawn < sizes.test_drawn + sizes.valid_drawn
        part_of[chapter] = "test" if is_test else "valid" if is_valid else "train"
        drawn += lengths[chapter]
    parts: dict[str, list[Pair]] = {"train": [], "valid": [], "test": []}
    for chapter, pair in rows:
        parts[part_of[chapter]].append(pair)
    trained = {bare(text) for pair in parts["train"] for text in pair}
    for part, size in (("valid", sizes.valid), ("test", sizes.test)):
        parts[part] = [pair for pair in parts[part] if trained.isdisjoint(map(bare, pair))][:size]
    return parts

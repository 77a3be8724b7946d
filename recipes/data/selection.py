"""Select translated texts that read as sentences, and hold some of them out."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from recipes.data.plain_text import HAN, Pair, bare, rank, tidy, words

__all__ = ["Sizes", "hold_out", "is_plain", "sentence_pairs", "without_menu_keys"]

_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_PLACEHOLDER = re.compile(
    r"%(?:\d+\$)?[-+#0 ]*\d*(?:\.\d+|\.\*)?(?:hh|h|ll|l|z|j|t)?[A-Za-z@](?![A-Za-z])"
    r"|(?<!\d)%[A-Za-z'+#<{-]|%\d|%\(\w+\)|%\{|%<|\{[\w.:]*\}|\$\{?\w+|\$\(|@\w+@|%[A-Z_]+%|<[A-Z_]{2,}>|\[%|%\["
)
_NO_PROSE = re.compile(
    r"[\\{}|\u2028\ufffd\ue000-\uf8ff]|https?://|ftp://|www\.|translator-credits|"
    r"@[\w.-]+\.\w|[=_*#~+-]{3,}|::|[<>]|&[a-z]+;|\t"
)
_COMMAND_OR_PATH = ("-", "/", ".", "$")
_SENTENCE_END = re.compile(
    r"[.!?]+[\"'”’»)]*\s+(?=[\"'“‘«(¿¡]?[A-Z0-9\u00c0-\u00de\u3400-\u9fff])"
    r"|[。！？]+[”’」』）]*\s*(?!$)"
)
_ABBREVIATION = re.compile(
    r"\b(?:e\.g|i\.e|etc|vs|cf|Mr|Mrs|Dr|St|No|bzw|z\.B|z\. B|d\.h|d\. h|u\.a|usw|ca|"
    r"evtl|ggf|inkl|Nr|p\. ej|p\.ej|Ud|Sr|Sra|ex|fig|M)\.$",
    re.IGNORECASE,
)


class Sizes(NamedTuple):
    """How many pairs are held out, and the range of words on each side of such a pair."""

    test: int = 2000
    valid: int = 1000
    shortest: int = 5
    longest: int = 60


def sentence_pairs(pair: Pair) -> Iterator[Pair]:
    """Yield the plain sentence pairs of a Chinese paragraph and its English, or nothing."""
    cleared = without_menu_keys(Pair(tidy(pair.source), tidy(pair.target)))
    if cleared is not None and all(cleared):
        for source, target in _split(cleared):
            sentence = Pair(tidy(source), tidy(target))
            if is_plain(sentence):
                yield sentence


def without_menu_keys(pair: Pair) -> Pair | None:
    """Remove the mark (&, ~ or _) of a menu entry's key; None if it is ambiguous."""
    source = re.sub(r"\s*\([&_~][A-Za-z0-9]\)", "", pair.source)
    target = re.sub(r"\s*[(（][&_~][A-Za-z0-9][)）]", "", pair.target)
    for mark in "&_~":
        before = (source, target)
        marked = re.compile(re.escape(mark) + r"(?=\w)")
        if any(len(marked.findall(text)) > 1 for text in before):
            return None
        source, target = (marked.sub("", text) for text in before)
        # An underscore is as likely part of a name, and always so where one is left or the text is long.
        long = (source, target) != before and len(before[0].split()) > 9
        if mark == "_" and (long or "_" in source or "_" in target):
            return None
    return Pair(source, target)


def is_plain(pair: Pair) -> bool:
    """Whether a Chinese and an English text read as prose and as translations of each other."""
    other, english = pair
    if not other or not english or len(other) > 700 or len(english) > 900:
        return False
    if any(_NO_PROSE.search(text) or _PLACEHOLDER.search(text) or text.startswith(_COMMAND_OR_PATH) for text in pair):
        return False
    if not re.search(r"[A-Za-z]{2}", english) or HAN.search(english):
        return False
    if sum(character.isalpha() or character == " " for character in english) < 0.75 * len(english):
        return False
    if not bare(other) or not bare(english) or bare(other) == bare(english):
        return False
    characters = len(HAN.findall(other))
    if not characters or len(_LATIN.findall(other)) > 1.5 * characters:
        return False
    return _alike_in_size(words(other), words(english))


def hold_out(pairs: Iterable[Pair], sizes: Sizes = Sizes()) -> dict[str, list[Pair]]:  # noqa: B008
    """Split into `train`, `valid` and `test`; no near-identical text is in two of them.

    Pairs whose source or target agree but for case, digits and punctuation form a cluster; only pairs alone in theirs
    can be held out. The result depends on the set of pairs only, not on their order.
    """
    unique = set(pairs)
    held_out = [
        cluster[0]
        for cluster in _clusters(unique)
        if len(cluster) == 1 and all(sizes.shortest <= words(text) <= sizes.longest for text in cluster[0])
    ]
    held_out.sort(key=lambda pair: rank("\t".join(pair)))
    test, valid = held_out[: sizes.test], held_out[sizes.test : sizes.test + sizes.valid]
    train = sorted(unique.difference(test, valid), key=lambda pair: rank("\t".join(pair), "order"))
    return {"train": train, "valid": valid, "test": test}


def _split(pair: Pair) -> list[Pair]:
    """Pair sentences if both sides have equally many of similar size; else pair the whole paragraph."""
    sources, targets = _sentences(pair.source), _sentences(pair.target)
    if len(sources) != len(targets):
        return [pair]
    sentences = [Pair(source, target) for source, target in zip(sources, targets, strict=True)]
    scale = len(pair.source) / len(pair.target)
    alike = all(len(target) < 25 or 0.4 <= len(source) / (scale * len(target)) <= 2.5 for source, target in sentences)
    return sentences if alike else [pair]


def _sentences(text: str) -> list[str]:
    parts = []
    start = 0
    for end in _SENTENCE_END.finditer(text):
        part = text[start : end.end()].strip()
        if not _ABBREVIATION.search(part):
            parts.append(part)
            start = end.end()
    rest = text[start:].strip()
    return [*parts, rest] if rest else parts


def _alike_in_size(other: float, english: float) -> bool:
    if english > 110 or other > 140:
        return False
    return 0.25 <= other / english <= 2.6 if english >= 5 else other <= 10


def _clusters(pairs: Iterable[Pair]) -> list[list[Pair]]:
    """Group pairs that are linked by an equal bare source or an equal bare target (a union-find forest)."""
    parent: dict[tuple[str, str], tuple[str, str]] = {}

    def root(key: tuple[str, str]) -> tuple[str, str]:
        while parent.setdefault(key, key) != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    pairs = list(pairs)
    for source, target in pairs:
        parent[root(("source", bare(source)))] = root(("target", bare(target)))
    clusters = defaultdict(list)
    for pair in pairs:
        clusters[root(("source", bare(pair.source)))].append(pair)
    return list(clusters.values())

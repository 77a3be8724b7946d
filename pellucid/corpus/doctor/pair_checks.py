"""The checks of a single pair: each is a function from the two texts to a finding, or None.

They run on every pair, so each begins with the cheapest test that settles most pairs.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple

from pellucid.corpus.config import DataConfig
from pellucid.corpus.doctor.profile import CorpusProfile, SideProfile
from pellucid.corpus.doctor.report import excerpt

__all__ = ["DROP_CHECKS", "WARN_CHECKS", "CheckContext", "Finding", "PairCheck", "find_mojibake"]

Side = Literal["source", "target"]


class Finding(NamedTuple):
    """What is wrong, and on which side."""

    side: Side
    message: str


class CheckContext(NamedTuple):
    """What checks need: the user's limits, and the profile of the text."""

    limits: DataConfig
    profile: CorpusProfile


def blank(source: str, target: str, context: CheckContext) -> Finding | None:
    """Find an empty side."""
    if source and target:
        return None
    if not source and not target:
        return Finding("source", "both sides are blank")
    side: Side = "target" if source else "source"
    return Finding(side, f"the {side} is blank, its partner is {excerpt(source or target)}")


def too_long(source: str, target: str, context: CheckContext) -> Finding | None:
    """Find a side longer than the limit."""
    most = context.limits.max_characters
    if len(source) <= most and len(target) <= most:
        return None
    side: Side = "source" if len(source) >= len(target) else "target"
    return Finding(side, f"{max(len(source), len(target)):,} characters, limit {most:,}")


def too_short(source: str, target: str, context: CheckContext) -> Finding | None:
    """Find a side shorter than the limit."""
    least = context.limits.min_characters
    if len(source) >= least and len(target) >= least:
        return None
    return Finding("source" if len(source) < least else "target", f"{excerpt(source)} and {excerpt(target)}")


def length_ratio(source: str, target: str, context: CheckContext) -> Finding | None:
    """Find a side far longer than expected from its partner."""
    ratio = (len(target) + 10) / (context.profile.ratio * len(source) + 10)
    most = context.limits.max_ratio
    if 1 / most <= ratio <= most:
        return None
    side: Side = "target" if ratio > 1 else "source"
    times = max(ratio, 1 / ratio)
    return Finding(
        side,
        f"the {side} is {times:.1f} times as long as expected: {len(source)} and {len(target)} characters, "
        f"{excerpt(source, 30)} and {excerpt(target, 30)}",
    )


def swapped(source: str, target: str, context: CheckContext) -> Finding | None:
    """Find a pair whose sides are swapped, by script or by common words."""
    ours, theirs = context.profile.source, context.profile.target
    if ours.letters is None or theirs.letters is None:
        return None
    if ours.script == theirs.script:
        in_place = not (ours.markers and _speaks(source, ours, theirs) and _speaks(target, theirs, ours))
    elif ours.letters.search(source) or not theirs.letters.search(source):
        return None
    else:
        in_place = 2 * len(ours.letters.findall(target)) <= len(_LETTER.findall(target))
    if in_place:
        return None
    return Finding("source", f"{excerpt(source)} and {excerpt(target)} are swapped")


def copy(source: str, target: str, context: CheckContext) -> Finding | None:
    """Find two sides with the same text."""
    return Finding("source", f"both sides are {excerpt(source)}") if source == target else None


def script(source: str, target: str, context: CheckContext) -> Finding | None:
    """Find a side that is not in its script, except short names that are not translated."""
    profile = context.profile
    if source != target:
        if message := _wrong_script(source, profile.source, profile):
            return Finding("source", message)
        if message := _wrong_script(target, profile.target, profile):
            return Finding("target", message)
    return None


def language(source: str, target: str, context: CheckContext) -> Finding | None:
    """Find a side with common words of the other side's language and none of its own."""
    ours, theirs = context.profile.source, context.profile.target
    if not ours.markers or not theirs.markers or source == target:
        return None
    if _speaks(source, ours, theirs):
        return Finding("source", f"{excerpt(source)} is in the target's language")
    if _speaks(target, theirs, ours):
        return Finding("target", f"{excerpt(target)} is in the source's language")
    return None


def mojibake(source: str, target: str, context: CheckContext) -> Finding | None:
    """Find traces of text decoded with the wrong encoding."""
    if found := find_mojibake(source):
        return Finding("source", f"{excerpt(found)} in {excerpt(source)}")
    if found := find_mojibake(target):
        return Finding("target", f"{excerpt(found)} in {excerpt(target)}")
    return None


def find_mojibake(text: str) -> str:
    """The first characters that come from decoding with the wrong encoding; empty if there are none."""
    if text.isascii() or not _MOJIBAKE_START.search(text):
        return ""
    match = _MOJIBAKE.search(text)
    return match[0] if match else ""


def number(source: str, target: str, context: CheckContext) -> Finding | None:
    """Find sides whose digits differ."""
    if _DIGIT.search(source) is None and _DIGIT.search(target) is None:
        return None
    ours, theirs = _DIGITS.findall(source), _DIGITS.findall(target)
    if ours == theirs or sorted(ours) == sorted(theirs):
        return None
    only_source, only_target = _numbers(source), _numbers(target)
    only_source, only_target = only_source - only_target, only_target - only_source
    if not _WRITTEN_OUT.isdisjoint(target):
        only_source = Counter()
    if not _WRITTEN_OUT.isdisjoint(source):
        only_target = Counter()
    # A small number on one side may be a word on the other; two different numbers are an issue.
    if not (only_source and only_target) and all(value <= 12 for value in [*only_source, *only_target]):
        return None
    return _one_sided(only_source, only_target)


def url(source: str, target: str, context: CheckContext) -> Finding | None:
    """Find sides whose web and e-mail addresses differ."""
    if not ("://" in source or "://" in target or "@" in source or "@" in target or "www." in source):
        return None
    return _difference(_URL, source, target)


def placeholder(source: str, target: str, context: CheckContext) -> Finding | None:
    """Find sides whose placeholders or tags differ."""
    if _PLACEHOLDER_START.search(source) is None and _PLACEHOLDER_START.search(target) is None:
        return None
    return _difference(_PLACEHOLDER, source, target)


def punctuation(source: str, target: str, context: CheckContext) -> Finding | None:
    """Find sides that end differently."""
    if _END.get(source[-1]) == _END.get(target[-1]) is not None:
        return None
    ours, theirs = _end(source), _end(target)
    strong = "?" in (ours, theirs) or "!" in (ours, theirs)
    if ours == theirs or (not strong and min(len(source), len(target)) < 20):
        return None
    if strong or not (ours and theirs):
        side: Side = "source" if not ours else "target"
        return Finding(side, f"one ends in {excerpt(source[-15:])}, the other in {excerpt(target[-15:])}")
    return None


PairCheck = Callable[[str, str, CheckContext], Finding | None]

DROP_CHECKS: Mapping[str, PairCheck] = {
    "blank": blank,
    "too-long": too_long,
    "swapped": swapped,
    "length-ratio": length_ratio,
}
"""Checks that leave a pair out by default, the most informative first."""

WARN_CHECKS: Mapping[str, PairCheck] = {
    "too-short": too_short,
    "copy": copy,
    "mojibake": mojibake,
    "script": script,
    "language": language,
    "number": number,
    "url": url,
    "placeholder": placeholder,
    "punctuation": punctuation,
}
"""Checks that only report by default."""

_LETTER = re.compile(r"[^\W\d_]")
_FEW_LETTERS = 12  # one or two untranslated names
_MOJIBAKE_START = re.compile("[\u00c2\u00c3\u00e2\u00ef\ufffd]")
_MOJIBAKE = re.compile(
    "[\u00c2\u00c3][\u0080-\u00bf\u2018-\u203a\u20ac\u0152-\u017e]|\u00e2\u20ac.|\ufffd+|\u00ef\u00bf\u00bd"
)
_DIGIT = re.compile(r"\d")
_DIGITS = re.compile(r"\d+")
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:([.,'\u2019 \u00a0\u2009\u202f])\d{3})(?:\1\d{3})*(?![\d])")
_WRITTEN_OUT = frozenset("〇零一二三四五六七八九十百千万億亿两兩")
_URL = re.compile(
    r"(?:https?|ftp)://[\w\-./?%&=+#~:@,;!$*]+|www\.[\w\-./?%&=+#~]+|[\w.+\-]+@[\w\-]+\.[\w.\-]+", re.ASCII
)
_PLACEHOLDER_START = re.compile(r"[{%<#$]")
_PLACEHOLDER = re.compile(
    r"\{\{[^{}]*\}\}|\$?\{[\w.:\- ]*\}|%\(\w+\)[sdifgx]|%(?:\d+\$)?[-+0]?\d*(?:\.\d+)?l{0,2}[sdifguxc@](?![\w%])"
    r"|#{2,}\w+#{2,}|</?[A-Za-z][\w:\-]*(?:\s+[\w:\-]+=(?:\"[^\"<>]*\"|'[^'<>]*'))*\s*/?>",
    re.ASCII,
)
_END = (
    dict.fromkeys(".。．｡…।։።", ".")
    | dict.fromkeys("?？؟;՞፧", "?")
    | dict.fromkeys("!！", "!")
    | dict.fromkeys(":：;；,，、", ":")
)
_END[";"] = ":"
_CLOSING = "\"'”’»」』）)]】》*_ "


def _speaks(text: str, own: SideProfile, other: SideProfile) -> bool:
    """Whether a text has at least three common words of the other language and none of its own."""
    words = text.lower().split()
    if not own.markers.isdisjoint(words):
        return False
    return sum(word in other.markers for word in words) >= 3


def _wrong_script(text: str, side: SideProfile, profile: CorpusProfile) -> str:
    if side.letters is not None and side.letters.search(text) is None:
        letters = len(_LETTER.findall(text))
        return f"no {side.script} letter in {excerpt(text)}" if letters >= _FEW_LETTERS else ""
    if not text.isascii() and profile.foreign.search(text):
        foreign, letters = len(profile.foreign.findall(text)), len(_LETTER.findall(text))
        return (
            f"{foreign} of {letters} letters are in another script in {excerpt(text)}" if 3 * foreign > letters else ""
        )
    return ""


def _numbers(text: str) -> Counter[int]:
    """The numbers of a text, ignoring thousands separators: 150 000, 150,000 and 150000 are equal."""
    joined = _GROUPED.sub(lambda match: "".join(_DIGITS.findall(match[0])), text)
    return Counter(int(digits) for digits in _DIGITS.findall(joined) if len(digits) < 40)


def _difference(pattern: re.Pattern[str], source: str, target: str) -> Finding | None:
    ours, theirs = pattern.findall(source), pattern.findall(target)
    if ours == theirs:
        return None
    ours_bare, theirs_bare = (Counter(found.rstrip(".,;:!?") for found in side) for side in (ours, theirs))
    if ours_bare == theirs_bare:
        return None
    return _one_sided(ours_bare - theirs_bare, theirs_bare - ours_bare)


def _one_sided(only_source: Iterable[object], only_target: Iterable[object]) -> Finding:
    """Report what only one side has."""
    sides = {"source": ", ".join(map(str, only_source)), "target": ", ".join(map(str, only_target))}
    said = "; ".join(f"{found} only in the {side}" for side, found in sides.items() if found)
    return Finding("source" if sides["source"] else "target", said)


def _end(text: str) -> str:
    bare = text.rstrip(_CLOSING)
    return _END.get(bare[-1], "") if bare else ""

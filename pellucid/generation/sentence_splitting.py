"""Split long text at sentence ends into parts short enough to translate, and join their translations."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

__all__ = ["is_unspaced", "join_parts", "split_lines", "split_long", "split_sentences"]

_CLOSING = "\"'”’»›)\\]）】」』》〉"
_ENDS = re.compile(
    rf"[。！？｡…]+[{_CLOSING}]*\s*"  # Chinese and Japanese: no space need follow
    rf"|[;；][{_CLOSING}]*\s+|；"
    rf"|[.!?।؟]+[{_CLOSING}]*(?:\s+|$)"  # Latin and others: a space must follow
)
_CLAUSE_ENDS = re.compile(rf"[，、；：—]+[{_CLOSING}]*\s*|\s+")
_ABBREVIATIONS = frozenset(
    re.findall(
        r"\S+",
        "mr mrs ms dr prof st sr jr vs etc e.g i.e no nos vol fig figs pp p ca cf al approx dept est inc ltd co corp "
        "gen gov sgt capt col lt rev hon jan feb mar apr jun jul aug sep sept oct nov dec ud uds ee ej art cap núm pág "
        "d.h z.b bzw usw nr str m mme mlle",
    )
)
_LAST_WORD = re.compile(r"([\w.]+)\.$")
_LINE_END = re.compile(r"(\r\n|\n)")
_UNSPACED = re.compile(
    "[\u2e80-\u303f\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)  # scripts and marks written without spaces: Han, kana, full-width forms

Span = tuple[int, int]


def split_lines(text: str) -> list[str]:
    r"""Split a text into lines and the line ends between them, in turn; only `\n` and `\r\n` end a line."""
    return _LINE_END.split(text)


def split_sentences(text: str, whole: Iterable[Span] = ()) -> list[str]:
    """Split a text after its sentences; joined, the parts give the text. Spaces stay with what they follow.

    A full stop ends a sentence only before a space, and not after an initial, a known abbreviation, or before a
    small letter. `whole` has the start and end of spans that are not split.
    """
    places = [match.end() for match in _ENDS.finditer(text) if not _continues(text, match)]
    return _cut(text, places, whole)


def split_long(text: str, too_long: Callable[[str], bool], whole: Iterable[Span] = ()) -> list[str]:
    """Split a line so that no part is too long: at sentence ends, then at commas and spaces, then anywhere.

    A short line is left whole; in a long one every sentence becomes a part, and only long ones are split further.
    Joined, the parts give the text. A part that must not be split stays too long.
    `whole` has the start and end of spans that are not split.
    """
    if not too_long(text):
        return [text]
    whole = sorted(whole)
    parts: list[str] = []
    start = 0
    for sentence in split_sentences(text, whole):
        inside = [(a - start, b - start) for a, b in whole if start <= a and b <= start + len(sentence)]
        parts.extend(_short_parts(sentence, too_long, inside) if too_long(sentence) else [sentence])
        start += len(sentence)
    return parts


def join_parts(parts: Sequence[str], translations: Sequence[str]) -> str:
    """Join the translations of the parts of a text.

    Spaces around a part are put around its translation. There is no space next to a Chinese or Japanese
    character; where the source needed no space after its full stop but the translation does, one is inserted.
    The translations are without surrounding spaces.
    """
    text = gap = ""
    needs_space = False  # the source was split where it has no space
    for part, translation in zip(parts, translations, strict=True):
        bare = part.strip()
        gap += part[: len(part) - len(part.lstrip())]
        if not bare:
            continue
        if text and not gap and needs_space:
            gap = " "
        if text and translation and (is_unspaced(text[-1]) or is_unspaced(translation[0])):
            gap = ""
        text += gap + translation
        gap = part[len(part.rstrip()) :]
        needs_space = is_unspaced(bare[-1])
    return text + gap


def is_unspaced(character: str) -> bool:
    """Check whether a character belongs to a script written without spaces, or is a full-width mark."""
    return bool(_UNSPACED.match(character))


def _continues(text: str, match: re.Match[str]) -> bool:
    """Check whether the sentence continues after what looks like its end."""
    marks = match.group().rstrip()
    if not marks.startswith(".") or marks.startswith(".."):
        return False
    following = text[match.end() : match.end() + 1]
    if following.islower():
        return True
    last = _LAST_WORD.search(text[: match.start() + 1])
    if last is None or not following:
        return False
    word = last.group(1)
    initial = len(word) == 1 and word.isalpha() and word.isupper()
    ordinal = word.isdigit() and text[: last.start()].strip() == ""  # "1. Introduction"
    return initial or ordinal or word.lower() in _ABBREVIATIONS


def _short_parts(text: str, too_long: Callable[[str], bool], whole: Sequence[Span]) -> list[str]:
    """Join clauses, or characters if there are none, to parts as long as possible."""
    clauses = _cut(text, [match.end() for match in _CLAUSE_ENDS.finditer(text)], whole)
    parts: list[str] = []
    start = 0
    for clause in clauses:
        inside = [(a - start, b - start) for a, b in whole if start <= a and b <= start + len(clause)]
        start += len(clause)
        if parts and not too_long(parts[-1] + clause):
            parts[-1] += clause
        elif too_long(clause):
            parts.extend(_halves(clause, too_long, inside))
        else:
            parts.append(clause)
    return parts


def _halves(text: str, too_long: Callable[[str], bool], whole: Sequence[Span]) -> list[str]:
    """Split in the middle, repeatedly, but never within a protected span or before a combining mark."""
    if not too_long(text):
        return [text]
    free = [place for place in range(1, len(text)) if not any(a < place < b for a, b in whole)]
    if not free:
        return [text]
    middle = min(free, key=lambda place: abs(place - len(text) // 2))
    left = [(a, b) for a, b in whole if b <= middle]
    right = [(a - middle, b - middle) for a, b in whole if a >= middle]
    return _halves(text[:middle], too_long, left) + _halves(text[middle:], too_long, right)


def _cut(text: str, places: Iterable[int], whole: Iterable[Span]) -> list[str]:
    whole = list(whole)
    kept = [place for place in places if 0 < place < len(text) and not any(a < place < b for a, b in whole)]
    edges = [0, *kept, len(text)]
    return [text[a:b] for a, b in pairwise(edges) if a < b] or [text]

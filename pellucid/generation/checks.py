"""Signs that a translation may be wrong, told with it: nobody has to look for them."""

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor

from pellucid.plurals import pluralize

__all__ = ["GenerationWarning", "check_coverage", "check_length", "check_numbers", "check_repetition"]


class GenerationWarning(NamedTuple):
    """Something about a translation that its reader should know.

    Attributes:
        code: `loop`, `number`, `not-covered`, `length`, `cut` or `placeholder`.
        message: a sentence.
    """

    code: str
    message: str


_SEPARATORS = "[.,'’\u00a0\u2009\u202f ]"
_GROUPED = re.compile(rf"(?<![\d.,])\d{{1,3}}(?:({_SEPARATORS})\d{{3}})(?:\1\d{{3}})*(?!\d)")
_NUMBER = re.compile(
    r"(\d+(?:[.,]\d+)?)\s*(?:([十百千万萬亿億兆]+)|(thousand|million|billion|trillion)\b)?", re.IGNORECASE
)
_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}
_UNITS |= {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_WRITTEN = re.compile(
    r"[零〇一二两兩三四五六七八九十百千]|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|first|"
    r"second|third|un[oa]?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|ein\w{0,2}|zwei|drei|vier|fünf|sechs|sieben|"
    r"acht|neun|zehn|une|deux|trois|quatre|cinq|sept|huit|neuf|dix)\b",
    re.IGNORECASE,
)
_MAY_BE_WRITTEN = 12
_LOOK_AWAY = 0.15  # attention a source token got over the whole translation, in target tokens
_RUN = 5  # source tokens side by side that nobody looked at


def check_numbers(source: str, target: str) -> GenerationWarning | None:
    """Tell which numbers stand on one side only.

    `150 000`, `150,000` and `15万` are one number; small ones may be written out on the other side.
    """
    ours, theirs = _numbers(source), _numbers(target)
    lost, new = ours - theirs, theirs - ours
    if sorted(re.findall(r"\d+", source)) == sorted(re.findall(r"\d+", target)):
        return None
    lost = _without_written_out(lost, target)
    new = _without_written_out(new, source)
    if not lost and not new:
        return None
    said = [
        f"{', '.join(map(_plain, side))} only in the {name}"
        for side, name in ((lost, "source"), (new, "translation"))
        if side
    ]
    return GenerationWarning("number", f"numbers differ: {'; '.join(said)}")


def check_repetition(
    source_ids: Sequence[int], target_ids: Sequence[int], what: str = "the translation"
) -> GenerationWarning | None:
    """Tell whether the same tokens come three times in a row (one token: four), and more often than in the source."""
    for n in range(1, 11):
        times = _repeats(target_ids, n)
        if times >= (4 if n == 1 else 3) and times > _repeats(source_ids, n):
            return GenerationWarning("loop", f"{what} repeats itself: {pluralize(n, 'token')} {times} times in a row")
    return None


def check_length(source_tokens: int, target_tokens: int) -> GenerationWarning | None:
    """Tell whether a translation is less than a third, or more than three times, as long as its source, in tokens."""
    longer, shorter = max(source_tokens, target_tokens), min(source_tokens, target_tokens)
    if longer <= 3 * shorter or longer - shorter < 8:
        return None
    return GenerationWarning("length", f"{pluralize(source_tokens, 'source token')} became {target_tokens}")


def check_coverage(weights: Float[Tensor, "target source"], tokens: Sequence[str]) -> GenerationWarning | None:
    """Tell which stretch of the source got next to no attention from the whole translation.

    Args:
        weights: the soft alignment, the source's end token last.
        tokens: the source's tokens as shown.
    """
    ignored = (weights[:, : len(tokens)].sum(0) < _LOOK_AWAY).tolist()
    start = best = length = 0
    for i, is_ignored in enumerate([*ignored, False]):
        if is_ignored:
            continue
        if i - start > length:
            best, length = start, i - start
        start = i + 1
    if length < _RUN:
        return None
    stretch = "".join(tokens[best : best + length]).replace("▁", " ").strip()
    return GenerationWarning("not-covered", f"probably not translated: {stretch}")


def _numbers(text: str) -> Counter[Decimal]:
    join_parts = _GROUPED.sub(lambda match: re.sub(r"\D", "", match[0]), text)
    found: Counter[Decimal] = Counter()
    for digits, chinese, latin in _NUMBER.findall(join_parts):
        value = Decimal(digits.replace(",", "."))
        for unit in chinese or ([latin.lower()] if latin else []):
            value *= _UNITS[unit]
        found[value.normalize()] += 1
    return found


def _without_written_out(numbers: Counter[Decimal], other: str) -> Counter[Decimal]:
    if not _WRITTEN.search(other):
        return numbers
    return Counter({value: count for value, count in numbers.items() if value > _MAY_BE_WRITTEN})


def _plain(value: Decimal) -> str:
    return f"{value:f}"


def _repeats(ids: Sequence[int], n: int) -> int:
    """Return how often, at most, `n` tokens come in a row."""
    longest = run = 0
    for i in range(n, len(ids)):
        run = run + 1 if ids[i] == ids[i - n] else 0
        longest = max(longest, run)
    return longest // n + 1

"""Checks of generated texts: signs that something may be wrong, reported with the result."""

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from pellucid.plurals import pluralize

__all__ = ["GenerationWarning", "check_coverage", "check_length", "check_numbers", "check_repetition"]


class GenerationWarning(NamedTuple):
    """Something about a generated text that its reader should know.

    Attributes:
        kind: for translations `repetition`, `number`, `under_translation`, `length`, `truncated` or `placeholder`; for
            continuations `repetition`, `incomplete_character`, `context` or `sliding`.
    """

    kind: str
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
_MIN_COVERAGE = 0.15  # attention a source token received from the whole translation, in target tokens
_MIN_STRETCH = 5  # uncovered source tokens in a row


def check_numbers(source: str, target: str) -> GenerationWarning | None:
    """Warn of numbers that occur on one side only.

    `150 000`, `150,000` and `15万` are the same number; small numbers may be written out on the other side.
    """
    source_numbers, target_numbers = _numbers(source), _numbers(target)
    lost, new = source_numbers - target_numbers, target_numbers - source_numbers
    if sorted(re.findall(r"\d+", source)) == sorted(re.findall(r"\d+", target)):
        return None
    lost = _without_written_out(lost, target)
    new = _without_written_out(new, source)
    if not lost and not new:
        return None
    differences = [
        f"{', '.join(f'{value:f}' for value in side)} only in the {name}"
        for side, name in ((lost, "source"), (new, "translation"))
        if side
    ]
    return GenerationWarning("number", f"numbers differ: {'; '.join(differences)}")


def check_repetition(
    source_ids: Sequence[int], target_ids: Sequence[int], what: str = "the translation"
) -> GenerationWarning | None:
    """Warn if the same tokens occur three times in a row (a single token: four), and more often than in the source."""
    for n in range(1, 11):
        times = _repeats(target_ids, n)
        if times >= (4 if n == 1 else 3) and times > _repeats(source_ids, n):
            message = f"{what} repeats itself: {pluralize(n, 'token')} {times} times in a row"
            return GenerationWarning("repetition", message)
    return None


def check_length(source_tokens: int, target_tokens: int) -> GenerationWarning | None:
    """Warn if a translation is less than a third, or more than three times, as long as its source, in tokens."""
    longer, shorter = max(source_tokens, target_tokens), min(source_tokens, target_tokens)
    if longer <= 3 * shorter or longer - shorter < 8:
        return None
    return GenerationWarning("length", f"{pluralize(source_tokens, 'source token')} became {target_tokens}")


def check_coverage(coverage: Sequence[float], tokens: Sequence[str]) -> GenerationWarning | None:
    """Warn of the longest stretch of the source that received next to no attention from the whole translation.

    Args:
        coverage: attention that each source token received from all target tokens together; the end token's comes last.
        tokens: of the source, in readable form, without the end token.
    """
    start = longest_start = longest = 0
    for i, received in enumerate([*coverage[: len(tokens)], 1.0]):
        if received < _MIN_COVERAGE:
            continue
        if i - start > longest:
            longest_start, longest = start, i - start
        start = i + 1
    if longest < _MIN_STRETCH:
        return None
    stretch = "".join(tokens[longest_start : longest_start + longest]).replace("▁", " ").strip()
    return GenerationWarning("under_translation", f"probably not translated: {stretch}")


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


def _repeats(ids: Sequence[int], n: int) -> int:
    """Count how many times in a row the same `n` tokens occur, at most."""
    longest = run = 0
    for i in range(n, len(ids)):
        run = run + 1 if ids[i] == ids[i - n] else 0
        longest = max(longest, run)
    return longest // n + 1

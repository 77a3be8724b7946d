"""What the doctor found: exact counts, and the first examples of each kind."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pellucid.corpus.doctor.checks import CHECKS, Level
from pellucid.corpus.pairs import Location
from pellucid.plurals import pluralize

__all__ = ["DoctorReport", "IssueLog", "ReportedIssue", "excerpt", "issue_lines"]

_ORDER = {check: position for position, check in enumerate(CHECKS)}
_SHOWN = 3  # examples of a check in the readable report; the JSON form has more


@dataclass(frozen=True)
class ReportedIssue:
    """One fault at one place."""

    check: str
    level: Level
    file: str
    line: int
    message: str
    hint: str

    def as_dict(self) -> dict[str, object]:
        """Return the form of `doctor --json`."""
        return {
            "check": self.check,
            "level": self.level,
            "file": self.file,
            "line": self.line,
            "message": self.message,
            "hint": self.hint,
        }


@dataclass(frozen=True)
class DoctorReport:
    """What was found in a text.

    Args:
        files: the files read, in order.
        pairs: all pairs; a line without a partner counts as one.
        usable: pairs that remain. Every other pair is counted under exactly one check of level `error` or `drop`.
        problems: the first examples of each check, worst level first, then in the order of the table and the files.
        counts: in how many pairs each check found something.
        languages: codes of source and target, None where unknown; `languages_from` says who named them.
    """

    files: tuple[str, ...]
    pairs: int
    usable: int
    issues: tuple[ReportedIssue, ...]
    counts: dict[str, int]
    languages: tuple[str | None, str | None] = (None, None)
    languages_from: str = ""

    @property
    def errors(self) -> tuple[ReportedIssue, ...]:
        """The problems for which training refuses the text."""
        return tuple(problem for problem in self.issues if problem.level == "error")

    def as_dict(self) -> dict[str, object]:
        """Return the form of `doctor --json`, made of dicts, lists, numbers and strings."""
        return {
            "files": list(self.files),
            "pairs": self.pairs,
            "usable": self.usable,
            "issues": [problem.as_dict() for problem in self.issues],
            "counts": dict(self.counts),
        }

    def summary_lines(self, shown: int = _SHOWN) -> list[str]:
        """Return the report for people.

        Args:
            shown: examples of each check; 0 gives one line a check.
        """
        lines = [f"{pluralize(len(self.files), 'file')}, {pluralize(self.pairs, 'pair')}, {self.usable:,} usable"]
        if any(self.languages):
            source, target = (code or "unknown" for code in self.languages)
            lines[0] += f"; {source} → {target} ({self.languages_from})"
        return [*lines, *issue_lines(self.issues, self.counts, shown)]


def issue_lines(
    issues: Sequence[ReportedIssue], counts: Mapping[str, int], shown: int, noun: str = "pair"
) -> list[str]:
    """Return what was found for people, a paragraph a check.

    Args:
        problems: the examples, in the order to show.
        counts: of all, by check.
        shown: examples of each check; 0 gives one line a check.
        noun: what is counted.
    """
    by_check: dict[str, list[ReportedIssue]] = {}
    for problem in issues:
        by_check.setdefault(problem.check, []).append(problem)
    lines = [] if by_check else ["nothing to report"]
    for check, found in by_check.items():
        level = found[0].level
        if shown:
            lines.append("")
        lines.append(f"{level + ':':<7}{check}: {_said(level, counts[check], check, noun)}")
        for problem in found[:shown]:
            lines.append(f"  --> {problem.file}:{problem.line}  {problem.message}")
        rest = counts[check] - min(shown, len(found))
        if shown and rest > 0 and check not in ("line-count", "shift"):  # told once for many lines
            lines.append(f"      and {rest:,} more")
        if shown:
            lines.append(f"hint: {found[0].hint}")
    return lines


@dataclass
class IssueLog:
    """Counts everything, keeps the first few: memory does not grow with the number of faults."""

    level_of: Callable[[str], Level]
    examples: int = 20
    counts: Counter[str] = field(default_factory=Counter)
    _problems: dict[str, list[ReportedIssue]] = field(default_factory=dict)

    def note(self, check: str, location: Location, message: str, count: int = 1) -> None:
        """Count a fault, and keep it as an example if there are few yet."""
        self.counts[check] += count
        kept = self._problems.setdefault(check, [])
        if len(kept) < self.examples:
            kept.append(
                ReportedIssue(check, self.level_of(check), location.file, location.line, message, CHECKS[check].hint)
            )

    def issues(self) -> tuple[ReportedIssue, ...]:
        """Return the examples, worst level first, then in the order of the table."""
        levels = {"error": 0, "drop": 1, "warn": 2}
        checks = sorted(self._problems, key=lambda check: (levels[self.level_of(check)], _ORDER[check]))
        return tuple(problem for check in checks for problem in self._problems[check])

    def exact_counts(self, skipped: Iterable[str] = ()) -> dict[str, int]:
        """Return a count for every check of the table that was made, in its order, zeros included."""
        left_out = set(skipped)
        return {check: self.counts[check] for check in CHECKS if check not in left_out}


def excerpt(text: str, characters: int = 50) -> str:
    """Return the beginning of a text in quotation marks, for a message: one line, whatever the text has."""
    text = text.replace("\n", "⏎")
    return f"“{text}”" if len(text) <= characters else f"“{text[: characters - 1]}…”"


def _said(level: Level, count: int, check: str, noun: str) -> str:
    meaning = CHECKS[check].meaning
    if not count:  # lines that were paired anew
        return f"mended; {meaning}"
    outcome: dict[Level, str] = {"error": "refused", "drop": "left out", "warn": "reported"}
    return f"{pluralize(count, noun)} {outcome[level]}; {meaning}"

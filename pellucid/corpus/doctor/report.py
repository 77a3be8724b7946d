"""What the doctor found: exact counts, and the first examples of each check."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from pellucid.corpus.doctor.checks import CHECKS, Level, hint_in_training
from pellucid.corpus.pairs import Location
from pellucid.plurals import pluralize

__all__ = ["DoctorReport", "IssueLog", "ReportedIssue", "excerpt", "issue_lines"]

_SHOWN = 3  # examples of a check in the readable report; the JSON form has more


@dataclass(frozen=True)
class ReportedIssue:
    """An issue at a location, with its level and a hint."""

    check: str
    level: Level
    file: str
    line: int
    message: str
    hint: str

    def as_dict(self) -> dict[str, object]:
        """Convert to the form of `doctor --json`."""
        return asdict(self)


@dataclass(frozen=True)
class DoctorReport:
    """What was found in a text.

    Args:
        pairs: the number of pairs; a line without a partner counts as one.
        usable: pairs that are used. Every other pair is counted under exactly one check of level `error` or `drop`.
        issues: the first examples of each check, most severe level first, then in the order of the table and the files.
        counts: in how many pairs each check found something.
        languages: codes of source and target, None where unknown.
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
        """The issues for which training refuses the text."""
        return tuple(issue for issue in self.issues if issue.level == "error")

    def as_dict(self) -> dict[str, object]:
        """Convert to the form of `doctor --json`."""
        return {
            "files": list(self.files),
            "pairs": self.pairs,
            "usable": self.usable,
            "issues": [issue.as_dict() for issue in self.issues],
            "counts": dict(self.counts),
        }

    def summary_lines(self, shown: int = _SHOWN) -> list[str]:
        """Format the report for people, with `shown` examples of each check; 0 gives one line per check."""
        lines = [f"{pluralize(len(self.files), 'file')}, {pluralize(self.pairs, 'pair')}, {self.usable:,} usable"]
        if any(self.languages):
            source, target = (code or "unknown" for code in self.languages)
            lines[0] += f"; {source} → {target} ({self.languages_from})"
        return [*lines, *issue_lines(self.issues, self.counts, shown)]


def issue_lines(
    issues: Sequence[ReportedIssue], counts: Mapping[str, int], shown: int, noun: str = "pair"
) -> list[str]:
    """Format issues for people, one paragraph per check.

    Args:
        issues: the examples, in the order to show.
        shown: examples of each check; 0 gives one line per check.
        noun: what is counted.
    """
    by_check: dict[str, list[ReportedIssue]] = {}
    for issue in issues:
        by_check.setdefault(issue.check, []).append(issue)
    lines = [] if by_check else ["nothing to report"]
    for check, found in by_check.items():
        level = found[0].level
        if shown:
            lines.append("")
        lines.append(f"{level + ':':<7}{check}: {_outcome(level, counts[check], check, noun)}")
        for issue in found[:shown]:
            lines.append(f"  --> {issue.file}:{issue.line}  {issue.message}")
        rest = counts[check] - min(shown, len(found))
        if shown and rest > 0 and check not in ("line-count", "shift"):  # reported once for many lines
            lines.append(f"      and {rest:,} more")
        if shown:
            lines.append(f"hint: {found[0].hint}")
    return lines


@dataclass
class IssueLog:
    """Counts all issues and keeps the first few of each check, so that memory does not grow with their number.

    Args:
        in_training: whether hints name the flags of training instead of the doctor's.
    """

    level_of: Callable[[str], Level]
    in_training: bool = False
    examples: int = 20
    counts: Counter[str] = field(default_factory=Counter)
    _issues: dict[str, list[ReportedIssue]] = field(default_factory=dict)

    def add(self, check: str, location: Location, message: str, count: int = 1) -> None:
        """Count an issue, and keep it as an example if there are few yet."""
        self.counts[check] += count
        kept = self._issues.setdefault(check, [])
        if len(kept) < self.examples:
            hint = hint_in_training(check) if self.in_training else CHECKS[check].hint
            kept.append(ReportedIssue(check, self.level_of(check), location.file, location.line, message, hint))

    def issues(self) -> tuple[ReportedIssue, ...]:
        """The examples, most severe level first, then in the order of the table."""
        levels, order = ["error", "drop", "warn"], list(CHECKS)
        checks = sorted(self._issues, key=lambda check: (levels.index(self.level_of(check)), order.index(check)))
        return tuple(issue for check in checks for issue in self._issues[check])


def excerpt(text: str, characters: int = 50) -> str:
    """Quote the beginning of a text on one line, for a message."""
    text = text.replace("\n", "⏎")
    return f"“{text}”" if len(text) <= characters else f"“{text[: characters - 1]}…”"


def _outcome(level: Level, count: int, check: str, noun: str) -> str:
    meaning = CHECKS[check].meaning
    if not count:  # lines that were realigned
        return f"fixed; {meaning}"
    outcome: dict[Level, str] = {"error": "refused", "drop": "left out", "warn": "reported"}
    return f"{pluralize(count, noun)} {outcome[level]}; {meaning}"

"""The report of the lab: an HTML page that loads nothing, the same as Markdown, and JSON."""

import errno
import json
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import jinja2

from pellucid import __version__
from pellucid.claims.catalogue import TOPICS, topic_of
from pellucid.claims.charts import COLOURS, specification, svg
from pellucid.claims.evidence import Estimate
from pellucid.claims.lab import Outcome
from pellucid.claims.rules import VERDICTS, JudgedCriterion, Verdict
from pellucid.claims.texts import ClaimTexts, Language, shared_texts
from pellucid.inspection.views.pages import chart_scripts
from pellucid.storage.files import write_error, write_text

__all__ = [
    "create_report_folder",
    "format_estimate",
    "markdown",
    "page",
    "terminal_lines",
    "verdict_text",
    "write_figure",
    "write_pages",
]

_MOST_ROWS = 200  # of a table on the page; the JSON has all


def create_report_folder(folder: Path) -> None:
    """Create the folder of a report, so that an obstacle is reported before hours of measuring.

    Raises:
        UserError: if it cannot be created or written to.
    """
    figures = folder / "figures"
    try:
        figures.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(folder, error) from error
    for path in (folder, figures):
        if not os.access(path, os.W_OK):
            raise write_error(path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


def write_figure(folder: Path, one: Outcome, language: Language) -> None:
    """Write the figure of an outcome, if it has one, into a report's folder."""
    if one.evidence is not None:
        drawn = svg(specification(one.evidence, one.claim.texts, language))
        write_text(folder / "figures" / f"{one.claim.id}.svg", drawn)


def write_pages(folder: Path, outcomes: Sequence[Outcome], language: Language) -> None:
    """Write everything but the figures into a report's folder."""
    data = [one.as_dict(language) for one in outcomes]
    write_text(folder / "claims.json", json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n")
    write_text(folder / "report.md", markdown(outcomes, language))
    write_text(folder / "report.html", page(outcomes, language))


def terminal_lines(outcome: Outcome, language: Language) -> list[str]:
    """Describe an outcome for a terminal: verdict and statement, its condition, and each number with its threshold."""
    texts = outcome.claim.texts
    view = _View(outcome, texts, language)
    lines = [f"{texts.id}  {verdict_text(outcome.verdict, language)}  {texts.statement.of(language)}"]
    if outcome.condition is not None:
        lines.append(f"    {outcome.condition.of(language)}")
    line = _say("line", language)
    lines += [f"    {line.format(row.name, row.value, row.required)}" for row in view.criteria]
    return lines


def markdown(outcomes: Sequence[Outcome], language: Language, figures: str = "figures") -> str:
    """Render the report as Markdown; its figures are files in a folder beside it."""
    return _templates(html=False).get_template("report.md").render(**_context(outcomes, language), figures=figures)


def page(outcomes: Sequence[Outcome], language: Language) -> str:
    """Render the report as a page that contains the JavaScript that draws it."""
    charts = {
        one.claim.id: specification(one.evidence, one.claim.texts, language)
        for one in outcomes
        if one.evidence is not None
    }
    template = _templates(html=True).get_template("report.html")
    return template.render(**_context(outcomes, language), colours=COLOURS, drawing=chart_scripts(charts))


@cache
def _templates(*, html: bool) -> jinja2.Environment:
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("pellucid.claims", ""),
        autoescape=html,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    templates.filters["cell"] = lambda text: text.replace("|", "\\|")
    return templates


def _context(outcomes: Sequence[Outcome], language: Language) -> dict[str, object]:
    """Collect what both templates show."""
    views = [_View(one, one.claim.texts, language) for one in outcomes]
    counts = Counter(one.verdict for one in outcomes)
    about = _say("about", language).format(__version__)
    if any(one.shortened for one in outcomes):
        about += ("" if language == "zh" else " ") + _say("quick", language)
    return {
        "language": language,
        "say": lambda name: _say(name, language),
        "verdict_text": lambda verdict: verdict_text(verdict, language),
        "about": about,
        "counts": {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]},
        "views": views,
        "topics": [
            (letter, shared_texts().topics[letter].of(language), within)
            for letter in TOPICS
            if (within := [view for view in views if topic_of(view.outcome.claim) == letter])
        ],
    }


class _Row(NamedTuple):
    """A criterion as a row of a table."""

    name: str
    value: str
    required: str
    as_stated: str
    reason: str


class _RecordTable(NamedTuple):
    """The records of an experiment as text."""

    title: str
    head: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class _View:
    """An outcome in one language, for the templates."""

    outcome: Outcome
    texts: ClaimTexts
    language: Language

    @property
    def condition(self) -> str:
        if self.outcome.condition is None:
            return ""
        label = {"refuted": "instead", "not-run": "missing"}.get(self.outcome.verdict, "condition")
        return self.say("labelled").format(self.say(label), self.outcome.condition.of(self.language))

    @property
    def notes(self) -> list[str]:
        evidence = self.outcome.evidence
        return [] if evidence is None else [self.texts.messages[note].of(self.language) for note in evidence.notes]

    @property
    def criteria(self) -> list[_Row]:
        return [self._row(judged) for judged in self.outcome.judged]

    @property
    def other_numbers(self) -> list[tuple[str, str]]:
        judged = {each.criterion.number for each in self.outcome.judged}
        numbers: Mapping[str, Estimate] = {} if self.outcome.evidence is None else self.outcome.evidence.numbers
        return [(self.name(number), format_estimate(numbers[number])) for number in numbers if number not in judged]

    @property
    def table(self) -> _RecordTable:
        records = [] if self.outcome.evidence is None else self.outcome.evidence.records
        columns = [name for name in records[0] if not isinstance(records[0][name], list)] if records else []
        rows = [[self._cell(record.get(name)) for name in columns] for record in records[:_MOST_ROWS]]
        return _RecordTable(self.say("table").format(len(records)), [self.name(name) for name in columns], rows)

    @property
    def spent(self) -> str:
        spent = self.say("seconds").format(round(self.outcome.seconds, 1), self.outcome.seed)
        return f"{spent} · {self.say('shortened')}" if self.outcome.shortened else spent

    def labelled(self, name: str, text: str) -> str:
        """Write a label, a colon, the text and a full stop, with the punctuation of the language."""
        stop = self.say("stop")
        return self.say("labelled").format(self.say(name), text.removesuffix(stop)) + stop

    def say(self, name: str) -> str:
        return _say(name, self.language)

    def name(self, number: str) -> str:
        return self.texts.name(number, self.language)

    def _row(self, judged: JudgedCriterion) -> _Row:
        criterion = judged.criterion
        outside = self.say("parentheses").format(self.say("outside")) if judged.outside else ""
        return _Row(
            self.name(criterion.number) + outside,
            format_estimate(judged.estimate),
            f"{self.say(criterion.relation.replace(' ', '_'))} {_format_number(criterion.threshold)}",
            self.say({True: "yes", False: "no", None: "undecided"}[judged.passed]),
            self.texts.reason(criterion.number).of(self.language),
        )

    def _cell(self, value: object) -> str:
        if isinstance(value, float):
            return _format_number(value)
        return "" if value is None else self.texts.word(str(value), self.language)


def verdict_text(verdict: Verdict, language: Language) -> str:
    """Name a verdict in a language."""
    return shared_texts().verdicts[verdict].of(language)


def format_estimate(estimate: Estimate) -> str:
    """Format a number with its interval, if it has one: `0.42 (0.38 – 0.46, n = 5)`."""
    value = _format_number(estimate.value)
    if estimate.low == estimate.high:
        return value
    return f"{value} ({_format_number(estimate.low)} – {_format_number(estimate.high)}, n = {estimate.n})"


def _format_number(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else {math.inf: "∞", -math.inf: "−∞"}.get(value, "–")


def _say(name: str, language: Language) -> str:
    return shared_texts().report[name].of(language)

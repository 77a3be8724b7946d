"""The lab's report: a page that needs nothing but itself, the same as Markdown, and as JSON."""

import errno
import json
import math
import os
from collections import Counter
from collections.abc import Sequence
from html import escape
from importlib import resources
from pathlib import Path

from pellucid import __version__
from pellucid.claims.bilingual import Language, Text
from pellucid.claims.catalogue import TOPICS, topic_of
from pellucid.claims.charts import COLOURS, specification, svg
from pellucid.claims.evidence import Estimate, Evidence
from pellucid.claims.lab import Outcome
from pellucid.claims.names import name_of
from pellucid.claims.rules import JudgedCriterion, Verdict
from pellucid.claims.table_words import word_of
from pellucid.inspection.views.pages import drawing, filled
from pellucid.storage.files import write_error, write_text

__all__ = [
    "VERDICTS",
    "markdown",
    "number",
    "page",
    "report_folder",
    "terminal_lines",
    "write_figure",
    "write_pages",
    "write_report",
]

VERDICTS: dict[Verdict, Text] = {
    "holds": Text("holds", "成立"),
    "holds-if": Text("holds if", "有条件成立"),
    "refuted": Text("refuted", "不成立"),
    "not-settled": Text("not settled", "未定"),
    "not-run": Text("not run", "未运行"),
}
_WORDS = {
    "title": Text("The claims lab", "命题实验室"),
    "about": Text(
        "Statements that explainers make about word vectors and Transformers, each measured on the models of Pellucid "
        "{}. "
        "A verdict follows from the numbers by a rule that was fixed before the run; intervals are 95 % over seeds.",
        "关于词向量与 Transformer 的常见说法，逐一在 Pellucid {} 的模型上测量。判定由运行前固定的规则从数字得出；区间"
        "为各随机种子的 95 % 区间。",
    ),
    "quick": Text(
        "Where it says “shrunken training”, the quick lab was run, which cannot refute.",
        "标有“缩小的训练”者为快速实验室所测，它不作“不成立”的判定。",
    ),
    "shrunken": Text("shrunken training", "缩小的训练"),
    "condition": Text("Condition", "条件"),
    "instead": Text("What is right instead", "正确的说法"),
    "missing": Text("MissingData", "缺少"),
    "measured": Text("Estimate", "测量内容"),
    "rule": Text("Rule", "规则"),
    "number": Text("number", "量"),
    "value": Text("measured", "测得"),
    "asked": Text("asked", "要求"),
    "passed": Text("as stated", "与命题相符"),
    "reading": Text("Reading", "解读"),
    "sources": Text("Sources", "出处"),
    "statement": Text("statement", "命题"),
    "verdict": Text("verdict", "判定"),
    "other": Text("Other numbers", "其他数字"),
    "table": Text("Table ({} rows)", "数据表（{} 行）"),
    "beyond": Text("without the condition", "条件之外"),
    "within": Text(" ({})", "（{}）"),
    "at most": Text("at most", "至多"),
    "at least": Text("at least", "至少"),
    "told": Text("{}: {}", "{}：{}"),
    "comma": Text(", ", "，"),
    "stop": Text(".", "。"),
    "line": Text("{}: {} (asked {})", "{}：{}（要求{}）"),
    "seconds": Text("{} s, --seed {}", "{} 秒，--seed {}"),
}
_YES: dict[bool | None, Text] = {True: Text("yes", "是"), False: Text("no", "否"), None: Text("undecided", "未决")}
_ROWS = 200  # of a table that a page shows; JSON has all


def report_folder(folder: Path) -> None:
    """Make the folder of a report, so that what stands in its way is told before hours of measuring.

    Raises:
        UserError: if it cannot be made or written to.
    """
    figures = folder / "figures"
    try:
        figures.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(folder, error) from error
    for place in (folder, figures):
        if not os.access(place, os.W_OK):
            raise write_error(place, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


def write_report(folder: Path, outcomes: Sequence[Outcome], language: Language) -> None:
    """Write report.html, report.md with its figures, and claims.json into a folder, each whole or not at all.

    Raises:
        UserError: if the folder cannot be made or written to.
    """
    report_folder(folder)
    for one in outcomes:
        write_figure(folder, one, language)
    write_pages(folder, outcomes, language)


def write_figure(folder: Path, one: Outcome, language: Language) -> None:
    """Write the figure of an outcome into a report's folder, if there is one to draw."""
    if one.evidence is not None:
        write_text(folder / "figures" / f"{one.claim.id}.svg", svg(specification(one.evidence, language)))


def write_pages(folder: Path, outcomes: Sequence[Outcome], language: Language) -> None:
    """Write all of a report but its figures into its folder."""
    told = [one.as_dict(language) for one in outcomes]
    write_text(folder / "claims.json", json.dumps(told, ensure_ascii=False, allow_nan=False) + "\n")
    write_text(folder / "report.md", markdown(outcomes, language))
    write_text(folder / "report.html", page(outcomes, language))


def terminal_lines(one: Outcome, language: Language) -> list[str]:
    """Return an outcome for a terminal: verdict and statement, its condition, and each number beside what was asked."""
    told = [f"{one.claim.id}  {VERDICTS[one.verdict].of(language)}  {one.claim.statement.of(language)}"]
    if one.condition is not None:
        told.append(f"    {one.condition.of(language)}")
    for judged in one.judged:
        name, measured, asked, _ = _row(judged, language)
        told.append(f"    {_say('line', language).format(name, measured, asked)}")
    return told


def markdown(outcomes: Sequence[Outcome], language: Language, figures: str = "figures") -> str:
    """Return the report as Markdown; its figures are files in a folder beside it."""
    lines = [
        f"# {_say('title', language)}",
        "",
        _about(outcomes, language),
        "",
        " · ".join(_counted(outcomes, language).values()),
        "",
    ]
    lines += [f"| | {_say('statement', language)} | {_say('verdict', language)} |", "|---|---|---|"]
    for one in outcomes:
        claim, verdict = one.claim, VERDICTS[one.verdict].of(language)
        lines.append(f"| [{claim.id}](#{claim.id.lower()}) | {_cell(claim.statement.of(language))} | **{verdict}** |")
    for letter, (_, about) in TOPICS.items():
        within = [one for one in outcomes if topic_of(one.claim) == letter]
        if within:
            lines += ["", f"## {letter}. {about.of(language)}"]
        for one in within:
            lines += ["", *_markdown_of(one, language, figures)]
    return "\n".join(lines) + "\n"


def _markdown_of(one: Outcome, language: Language, figures: str) -> list[str]:
    claim = one.claim
    lines = [
        f'### <a id="{claim.id.lower()}"></a>{claim.id}. {claim.statement.of(language)}',
        "",
        f"`{claim.equation}`",
        "",
        f"**{VERDICTS[one.verdict].of(language)}**" + _condition(one, language),
        "",
        _told("measured", claim.measured.of(language), language),
    ]
    if one.evidence is not None:
        head = [_say(name, language) for name in ("number", "value", "asked", "passed")]
        lines += ["", "| " + " | ".join(head) + " |", "|---|---|---|---|"]
        lines += ["| " + " | ".join(_cell(cell) for cell in _row(judged, language)) + " |" for judged in one.judged]
        others = _others(one)
        if others:
            shown = [f"{name_of(name, language)} {number(value)}" for name, value in others.items()]
            lines += ["", _told("other", _say("comma", language).join(shown), language)]
        lines += [f"\n{note.of(language)}" for note in one.evidence.notes]
        lines += ["", f"![{claim.id}]({figures}/{claim.id}.svg)"]
    sources = _told("sources", "; ".join(claim.sources), language)
    shrunken = _say("within", language).format(_say("shrunken", language)) if one.shrunken else ""
    lines += ["", claim.reading.of(language), "", sources + shrunken]
    return lines


def page(outcomes: Sequence[Outcome], language: Language) -> str:
    """Return the report as a page; the JavaScript that draws is within it."""
    template = resources.files("pellucid.claims").joinpath("report.html").read_text(encoding="utf-8")
    sections = []
    for letter, (_, about) in TOPICS.items():
        within = [one for one in outcomes if topic_of(one.claim) == letter]
        if within:
            sections.append(f"<h2>{letter}. {escape(about.of(language))}</h2>")
        sections += [_section(one, language) for one in within]
    specs = {one.claim.id: specification(one.evidence, language) for one in outcomes if one.evidence is not None}
    overview = "".join(
        f'<a class="{one.verdict}" href="#{one.claim.id}" title="{escape(one.claim.statement.of(language))}">'
        f"{one.claim.id}</a>"
        for one in outcomes
    )
    parts = {
        "language": "zh-CN" if language == "zh" else "en",
        "title": _say("title", language),
        "about": escape(_about(outcomes, language)),
        "counts": " ".join(
            f'<span class="verdict {verdict}">{escape(count)}</span>'
            for verdict, count in _counted(outcomes, language).items()
        ),
        "colours": "".join(f".{verdict} {{ --verdict: {colour}; }}" for verdict, colour in COLOURS.items()),
        "overview": overview,
        "sections": "\n".join(sections),
        "drawing": drawing(specs),
    }
    return filled(template, parts)


def _section(one: Outcome, language: Language) -> str:
    claim = one.claim
    measured = escape(claim.measured.of(language))
    parts = [
        f'<section id="{claim.id}" class="{one.verdict}"><h3>{claim.id}. {escape(claim.statement.of(language))}</h3>',
        f"<p><code>{escape(claim.equation)}</code></p>",
        f'<p><b class="verdict">{VERDICTS[one.verdict].of(language)}</b>{escape(_condition(one, language))}</p>',
        "<p>" + _say("told", language).format(f"<i>{_say('measured', language)}</i>", measured) + "</p>",
    ]
    if one.evidence is not None:
        parts += [f'<div class="figure" data-chart="{claim.id}"></div>', _rule_table(one, language)]
        parts += [f"<p>{escape(note.of(language))}</p>" for note in one.evidence.notes]
        parts.append(_record_table(one.evidence, language))
    parts += [
        f"<p>{escape(claim.reading.of(language))}</p>",
        f'<p class="small">{escape("; ".join(claim.sources))} · {_spent(one, language)}</p></section>',
    ]
    return "\n".join(parts)


def _rule_table(one: Outcome, language: Language) -> str:
    head = "".join(f"<th>{_say(name, language)}</th>" for name in ("number", "value", "asked", "passed", "rule"))
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in [*_row(judged, language), judged.test.why.of(language)])
        + "</tr>"
        for judged in one.judged
    )
    rows += "".join(
        f'<tr><td>{escape(name_of(name, language))}</td><td>{number(value)}</td><td colspan="3"></td></tr>'
        for name, value in _others(one).items()
    )
    return f'<div class="rule"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _record_table(evidence: Evidence, language: Language) -> str:
    records, titles = evidence.records, evidence.figure.titles
    names = [name for name in records[0] if not isinstance(records[0][name], list)] if records else []
    shown = [titles[name].of(language) if name in titles else name_of(name, language) for name in names]
    head = "".join(f"<th>{escape(name)}</th>" for name in shown)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(_shown(record.get(name), language))}</td>" for name in names) + "</tr>"
        for record in records[:_ROWS]
    )
    title = _say("table", language).format(len(records))
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f"<details><summary>{title}</summary>{table}</details>"


def _row(judged: JudgedCriterion, language: Language) -> list[str]:
    test = judged.test
    where = _say("within", language).format(_say("beyond", language)) if judged.beyond else ""
    asked = f"{_say(test.relation, language)} {_digits(test.threshold)}"
    return [name_of(test.number, language) + where, number(judged.measured), asked, _YES[judged.passed].of(language)]


def _others(one: Outcome) -> dict[str, Estimate]:
    judged = {each.test.number for each in one.judged}
    return {} if one.evidence is None else {k: v for k, v in one.evidence.numbers.items() if k not in judged}


def _condition(one: Outcome, language: Language) -> str:
    if one.condition is None:
        return ""
    label = {"refuted": "instead", "not-run": "missing"}.get(one.verdict, "condition")
    return " " + _say("told", language).format(_say(label, language), one.condition.of(language))


def _told(name: str, text: str, language: Language) -> str:
    """Return a line of Markdown: what it is, a colon, the text, a full stop, each as the language writes them."""
    stop = _say("stop", language)
    return _say("told", language).format(_say(name, language), text.removesuffix(stop)) + stop


def _about(outcomes: Sequence[Outcome], language: Language) -> str:
    about = _say("about", language).format(__version__)
    between = "" if language == "zh" else " "
    return f"{about}{between}{_say('quick', language)}" if any(one.shrunken for one in outcomes) else about


def _spent(one: Outcome, language: Language) -> str:
    spent = _say("seconds", language).format(round(one.seconds, 1), one.seed)
    return f"{spent} · {_say('shrunken', language)}" if one.shrunken else spent


def _counted(outcomes: Sequence[Outcome], language: Language) -> dict[Verdict, str]:
    found = Counter(one.verdict for one in outcomes)
    return {verdict: f"{text.of(language)} {found[verdict]}" for verdict, text in VERDICTS.items() if found[verdict]}


def number(measured: Estimate) -> str:
    """Return a number with its interval, where it has one: `0.42 (0.38 – 0.46, n = 5)`."""
    value = _digits(measured.value)
    if measured.low == measured.high:
        return value
    return f"{value} ({_digits(measured.low)} – {_digits(measured.high)}, n = {measured.n})"


def _digits(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else {math.inf: "∞", -math.inf: "−∞"}.get(value, "–")


def _shown(value: object, language: Language) -> str:
    return _digits(value) if isinstance(value, float) else "" if value is None else word_of(str(value), language)


def _say(name: str, language: Language) -> str:
    return _WORDS[name].of(language)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")

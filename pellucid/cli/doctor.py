"""`pellucid doctor`: what is wrong with a text, by file and line, and a clean copy of it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from cyclopts import Parameter
from pydantic import BaseModel, ValidationError

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_FLAGS, Flags
from pellucid.corpus.config import DataConfig
from pellucid.corpus.doctor.checks import CHECKS
from pellucid.corpus.doctor.report import ReportedIssue
from pellucid.corpus.documents_config import DocumentsConfig
from pellucid.errors import UsageError
from pellucid.plurals import pluralize

__all__ = ["doctor"]

_Names = Annotated[list[str] | None, Parameter(negative="")]
_Files = Annotated[list[Path] | None, Parameter(negative="", consume_multiple=True)]
_Switch = Annotated[bool, Parameter(negative="")]
AnyOptions = TypeVar("AnyOptions", bound=BaseModel)


def doctor(
    *sources: Path,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    fix: Path | None = None,
    overwrite: _Switch = False,
    list_checks: Annotated[bool, Parameter(name="--list", negative="")] = False,
    valid: _Files = None,
    test: _Files = None,
    source_lang: str | None = None,
    target_lang: str | None = None,
    drop: _Names = None,
    keep: _Names = None,
    skip: _Names = None,
    lm: _Switch = False,
    documents: Literal["auto", "blank-line", "line", "file"] = "auto",
    max_characters: int | None = None,
    min_characters: int | None = None,
    max_ratio: float | None = None,
    examples: int = 3,
    flags: Flags = DEFAULT_FLAGS,
) -> int:
    """Say what is wrong with a text, by file and line; exit 1 if training would refuse it.

    Args:
        sources: A .tsv, .tmx or .jsonl file, or two aligned text files, source first; with --lm texts;
            .gz, .xz and .zst as well.
        as_json: Print the report as one JSON object.
        fix: Write the clean pairs to this .tsv or .jsonl file, and what was left out, and why, to a second one.
        overwrite: Let --fix replace files that stand there.
        list_checks: List all checks, their levels and what --fix does.
        valid: Validation files; pairs whose source stands there are left out.
        test: Test files; pairs whose source stands there are left out.
        source_lang: Code of the source language, where a file has several.
        target_lang: Code of the target language.
        drop: Checks whose pairs are left out, such as copy,number; errors among them refuse no longer.
        keep: Checks that only report, such as duplicate.
        skip: Checks that are not made, such as shift.
        lm: Examine texts for a language model, not pairs: plain texts, or .jsonl with text, or prompt and completion.
        documents: With --lm: what ends a document of a plain text; auto judges by its blank lines.
        max_characters: Longest side that is kept (2,000 unless given).
        min_characters: Shorter sides are reported (2 unless given).
        max_ratio: How many times longer than expected a side may be (4 unless given).
        examples: How many examples of each check the readable report shows.
    """
    if list_checks:
        _print_checks(as_json)
        return 0
    if not sources:
        swallowed = "--valid" if valid else "--test" if test else ""
        hint = f"Name the text before {swallowed}, which takes all files after it." if swallowed else "Name a text."
        raise UsageError("no text was given", where="pellucid doctor", hint=hint)
    if lm:
        if fix is not None or test:
            raise UsageError(
                "--lm goes without --fix and --test", hint="`--drop encoding` leaves out what is unreadable."
            )
        levels = _options(DocumentsConfig, {"documents": documents, "drop": drop, "keep": keep, "skip": skip})
        return _examine_documents(sources, valid or (), levels, (as_json, examples))
    limits = {"max_characters": max_characters, "min_characters": min_characters, "max_ratio": max_ratio}
    options = _options(DataConfig, {"drop": drop, "keep": keep, "skip": skip, **limits})
    how: dict[str, Any] = {
        "source_lang": source_lang,
        "target_lang": target_lang,
        "valid": valid or (),
        "test": test or (),
        "options": options if fix is None else options.with_fixes(),
    }
    return _run(sources, fix, overwrite, how, (as_json, examples))


def _run(
    sources: Sequence[Path], out: Path | None, overwrite: bool, how: Mapping[str, Any], show: tuple[bool, int]
) -> int:
    from pellucid.corpus.doctor.examination import examine
    from pellucid.corpus.doctor.fixing import fix

    as_json, examples = show
    fixed = None
    with console.progress("Reading the text", unit="pairs") as progress:
        if out is None:
            examination = examine(sources, on_progress=progress.advance, **how)
        else:
            fixed = fix(sources, out, overwrite=overwrite, on_progress=progress.advance, **how)
            examination = fixed.examination
    report = examination.report
    if as_json:
        console.data_json(report.as_dict())
    else:
        for line in report.summary_lines(examples):
            console.data(line)
    if fixed is not None:
        console.log(f"wrote {fixed.clean}: {pluralize(report.usable, 'pair')}")
        console.log(f"wrote {fixed.dropped}: {fixed.dropped_pairs:,} left out, and why")
        return 0
    return _said_of_refusals(report.errors)


def _examine_documents(
    sources: Sequence[Path], valid: Sequence[Path], options: DocumentsConfig, show: tuple[bool, int]
) -> int:
    from pellucid.corpus.doctor.document_examination import examine_documents

    as_json, examples = show
    held = examine_documents(valid, options).documents if valid else None
    report = examine_documents(sources, options, held).report
    if as_json:
        console.data_json(report.as_dict())
    else:
        for line in report.summary_lines(examples):
            console.data(line)
    return _said_of_refusals(report.errors)


def _said_of_refusals(errors: Sequence[ReportedIssue]) -> int:
    """Say which checks training would refuse the text for, if any; return the exit code."""
    if not errors:
        return 0
    checks = ", ".join(dict.fromkeys(problem.check for problem in errors))
    console.log()
    console.log(f"Training would refuse this text: {checks}.")
    return 1


def _options(kind: type[AnyOptions], given: Mapping[str, Any]) -> AnyOptions:
    try:
        return kind(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        field = f"--{str(first['loc'][0]).replace('_', '-')}" if first["loc"] else "pellucid doctor"
        message = str(first["msg"]).removeprefix("Value error, ")
        raise UsageError(
            message[:1].lower() + message[1:], where=field, hint="`pellucid doctor --list` names the checks."
        ) from error


def _print_checks(as_json: bool) -> None:
    if as_json:
        console.data_json([dict(zip(check._fields[:4], check[:4], strict=True)) for check in CHECKS.values()])
        return
    console.data("error: training refuses the text · drop: the pair is left out · warn: it is only reported")
    for check in CHECKS.values():
        console.data("")
        console.data(f"{check.id} ({check.level})")
        console.data(f"  {check.meaning}")
        console.data(f"  --fix {check.fix}")

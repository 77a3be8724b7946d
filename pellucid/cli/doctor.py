"""`pellucid doctor`: find what is wrong with a text, by file and line, and write a clean copy."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from pydantic import ValidationError

from pellucid.cli import console
from pellucid.cli.config_flags import described_as_flags
from pellucid.cli.flags import DEFAULT_FLAGS, Flags, ShownJsonSwitch, ShownSwitch
from pellucid.cli.inputs import PAIR_FILES_HELP
from pellucid.corpus.config import Boundary, DataConfig, DocumentsConfig
from pellucid.corpus.doctor.checks import CHECKS
from pellucid.errors import UsageError
from pellucid.plurals import pluralize

if TYPE_CHECKING:
    from pellucid.corpus.doctor.document_examination import DocumentReport
    from pellucid.corpus.doctor.report import DoctorReport

__all__ = ["doctor"]

_Files = Annotated[list[Path] | None, Parameter(negative="", consume_multiple=True)]
_DEFAULT_CONFIG = DataConfig()

if TYPE_CHECKING:
    _DataFlags = DataConfig
else:
    _DataFlags = described_as_flags(DataConfig)


def doctor(
    *sources: Annotated[Path, Parameter(help=f"{PAIR_FILES_HELP} With --lm, text files.")],
    as_json: ShownJsonSwitch = False,
    fix: Path | None = None,
    overwrite: ShownSwitch = False,
    list_checks: Annotated[bool, Parameter(name="--list", negative="")] = False,
    valid: _Files = None,
    test: _Files = None,
    source_lang: str | None = None,
    target_lang: str | None = None,
    lm: ShownSwitch = False,
    documents: Literal["auto", "blank-line", "line", "file"] = "auto",
    examples: int = 3,
    config: Annotated[_DataFlags, Parameter(name="*", negative="")] = _DEFAULT_CONFIG,
    flags: Flags = DEFAULT_FLAGS,
) -> int:
    """Check a text for problems, by file and line.

    The exit code is 1 if training would reject the text.

    Args:
        as_json: Print the report as one JSON object.
        fix: Write the clean pairs to this .tsv or .jsonl file, and what was left out, and why, to a second one.
        overwrite: Let --fix replace existing files.
        list_checks: List all checks, their levels and what --fix does.
        valid: Validation files; pairs whose source is in them are left out.
        test: Test files; pairs whose source is in them are left out.
        source_lang: Code of the source language, for files with several languages.
        target_lang: Code of the target language.
        lm: Examine texts for a language model instead of pairs: plain texts, or .jsonl files with text or with prompt
            and completion.
        documents: With --lm, what ends a document of a plain text; auto detects it from the blank lines.
        examples: Number of examples of each check in the readable report.
    """
    if list_checks:
        _print_checks(as_json)
        return 0
    if not sources:
        swallowed = "--valid" if valid else "--test" if test else ""
        hint = f"Name the text before {swallowed}, which takes all files after it." if swallowed else "Name a text."
        raise UsageError("no text given", where="pellucid doctor", hint=hint)
    if lm:
        if fix is not None or test:
            raise UsageError(
                "--lm cannot be combined with --fix or --test",
                where="pellucid doctor --lm",
                hint="Use `--drop encoding` to leave out unreadable documents.",
            )
        return _print_report(_examine_documents(sources, valid or (), documents, config), as_json, examples)
    from pellucid.corpus.doctor.examination import examine
    from pellucid.corpus.doctor.fixing import fix as fix_text

    with console.progress("Reading the text", unit="pairs") as progress:
        if fix is None:
            report = examine(
                sources,
                source_lang=source_lang,
                target_lang=target_lang,
                options=config,
                valid=valid or (),
                test=test or (),
                on_progress=progress.advance,
            ).report
            return _print_report(report, as_json, examples)
        fixed = fix_text(
            sources,
            fix,
            overwrite=overwrite,
            source_lang=source_lang,
            target_lang=target_lang,
            options=config.with_fixes(),
            valid=valid or (),
            test=test or (),
            on_progress=progress.advance,
        )
    _print_report(fixed.examination.report, as_json, examples)
    console.log(f"wrote {fixed.clean}: {pluralize(fixed.examination.report.usable, 'pair')}")
    console.log(f"wrote {fixed.dropped}: {fixed.dropped_pairs:,} left out, with reasons")
    return 0


def _examine_documents(
    sources: Sequence[Path], valid: Sequence[Path], documents: Boundary | Literal["auto"], config: DataConfig
) -> "DocumentReport":
    """Examine documents with the same choices of checks; they undergo fewer checks than pairs."""
    from pellucid.corpus.doctor.document_examination import examine_documents

    try:
        options = DocumentsConfig(documents=documents, drop=config.drop, keep=config.keep, skip=config.skip)
    except ValidationError as error:
        raise UsageError(
            str(error.errors()[0]["msg"]).removeprefix("Value error, ").rstrip("."),
            where="pellucid doctor --lm",
            hint="See docs/doctor.md for the checks of documents.",
        ) from error
    held_out = examine_documents(valid, options).documents if valid else None
    return examine_documents(sources, options, held_out).report


def _print_report(report: "DoctorReport | DocumentReport", as_json: bool, examples: int) -> int:
    """Print a report; return the exit code: 1 if training would refuse the text."""
    if as_json:
        console.data_json(report.as_dict())
    else:
        for line in report.summary_lines(examples):
            console.data(line)
    if not report.errors:
        return 0
    checks = ", ".join(dict.fromkeys(issue.check for issue in report.errors))
    console.log()
    console.log(f"Training would refuse this text: {checks}.")
    return 1


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

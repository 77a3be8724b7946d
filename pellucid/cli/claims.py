"""`pellucid claims`: test common claims about these models by experiment."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from pellucid.claims.claim import FIRST_SEED
from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_FLAGS, Flags, JsonSwitch, Switch

__all__ = ["list_claims", "run"]

_SECONDS_BETWEEN_REPORTS = 60.0  # of measuring, so that a killed run leaves a recent report


def list_claims(
    *,
    lang: Literal["en", "zh"] = "en",
    as_json: JsonSwitch = False,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """List the claims.

    Args:
        lang: Language of the statements.
        as_json: Print a JSON array of objects with the keys id, statement (en, zh), equation and sources.
    """
    from pellucid.claims import all_claims

    _warn_of_unfit_claims()
    if as_json:
        console.data_json([claim.as_dict() for claim in all_claims()])
        return
    head, trains = (["编号", "命题", ""], "需训练") if lang == "zh" else (["id", "statement", ""], "trains")
    rows = [[claim.id, claim.texts.statement.of(lang), trains if claim.trains else ""] for claim in all_claims()]
    console.table(head, rows)


def run(
    *ids: str,
    quick: Switch = False,
    lang: Literal["en", "zh"] = "en",
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    data: Path | None = None,
    seed: int = FIRST_SEED,
    as_json: JsonSwitch = False,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """Run the experiments of claims and show the verdicts.

    A verdict follows from the measured numbers by a rule that was fixed beforehand.

    Args:
        ids: Claims to run, all by default; a letter selects all claims of that topic.
        quick: Use shorter training runs.
        lang: Language of the report.
        output: Folder for report.html, report.md with its figures, and claims.json.
        data: Folder with your own files for claims that need real text: text.txt, analogies.txt, similarity.tsv.
        seed: First seed; by default that of the published report.
        as_json: Print a JSON array of objects with the keys id, verdict, condition, evidence and seconds.
    """
    from pellucid.claims import find_claims, run_claims
    from pellucid.claims.report import create_report_folder, terminal_lines, write_figure, write_pages

    chosen, outcomes, unwritten = find_claims(ids), [], 0.0
    _warn_of_unfit_claims()
    running = run_claims(chosen, quick=quick, seed=seed, data=data)
    if output is not None:
        create_report_folder(output)
    try:
        with console.progress("Running the claims", len(chosen), "claims") as bar:
            for outcome in running:
                outcomes.append(outcome)
                bar.advance(1, note=f"{outcome.claim.id} {outcome.verdict}")
                if output is not None:
                    write_figure(output, outcome, lang)
                    unwritten += outcome.seconds
                    if unwritten > _SECONDS_BETWEEN_REPORTS:
                        write_pages(output, outcomes, lang)
                        unwritten = 0.0
                for line in () if as_json else terminal_lines(outcome, lang):
                    console.data(line)
    finally:
        # Whatever ended the run, Ctrl-C or an unreadable file: keep the outcomes so far.
        if output is not None and outcomes:
            write_pages(output, outcomes, lang)
            console.log(f"Report written to {output / 'report.html'}")
    if as_json:
        console.data_json([outcome.as_dict(lang) for outcome in outcomes])


def _warn_of_unfit_claims() -> None:
    from pellucid.claims.catalogue import unfit_claims

    for error in unfit_claims().values():
        console.error(error)

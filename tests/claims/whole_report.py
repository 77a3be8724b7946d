"""The report of outcomes that are all there, as `pellucid claims run -o` writes it."""

from collections.abc import Sequence
from pathlib import Path

from pellucid.claims import Outcome
from pellucid.claims.report import create_report_folder, write_figure, write_pages
from pellucid.claims.texts import Language


def write_report(folder: Path, outcomes: Sequence[Outcome], language: Language) -> None:
    create_report_folder(folder)
    for one in outcomes:
        write_figure(folder, one, language)
    write_pages(folder, outcomes, language)

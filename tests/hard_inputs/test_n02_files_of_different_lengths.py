"""N2: two files of different lengths are refused, with both counts and the first suspicious line."""

from pathlib import Path

import pytest

from pellucid.corpus.config import DataConfig
from pellucid.corpus.doctor.examination import examine
from pellucid.corpus.doctor.report import ReportedIssue


def examine_lines(tmp_path: Path, source: list[str], target: list[str], **options: object) -> ReportedIssue:
    for name, lines in (("a.de", source), ("a.en", target)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    report = examine([tmp_path / "a.de", tmp_path / "a.en"], options=DataConfig.model_validate(options)).report
    return next(problem for problem in report.errors if problem.check == "line-count")


@pytest.mark.parametrize("options", [{}, {"skip": ("shift",)}])
def test_both_counts_and_the_end_of_the_shorter(tmp_path: Path, options: dict[str, object]) -> None:
    problem = examine_lines(tmp_path, ["eins", "zwei", "drei", "vier"], ["one", "two"], **options)
    assert "4 lines" in problem.message and "2 lines" in problem.message
    assert (problem.file, problem.line) == (str(tmp_path / "a.de"), 3)
    assert "--fix" in problem.hint
    problem = examine_lines(tmp_path, ["eins"], ["one", "two"], **options)
    assert (problem.file, problem.line) == (str(tmp_path / "a.en"), 2)


def test_a_one_sided_blank_is_suspicious(tmp_path: Path) -> None:
    problem = examine_lines(tmp_path, ["eins", "", "zwei", "drei"], ["one", "two", "three"])
    assert (problem.file, problem.line) == (str(tmp_path / "a.de"), 2) and "empty" in problem.message


def test_the_place_is_found_by_what_the_lines_say(tmp_path: Path) -> None:
    source = [f"Zeile {number * 37}" + " und mehr" * (number * 7 % 11) for number in range(1, 200)]
    target = [line.replace("Zeile", "Line").replace("und mehr", "and more") for line in source]
    problem = examine_lines(tmp_path, source, target[:120] + target[122:])
    assert problem.file == str(tmp_path / "a.de") and abs(problem.line - 121) <= 2

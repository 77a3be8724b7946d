"""N1: a blank on one side takes its whole pair along, and nothing shifts."""

from pathlib import Path

import pytest

from pellucid.corpus.doctor.examination import examine


@pytest.mark.parametrize("blank", ["", " ", "\t", "\u3000", "\ufeff", "\r"])
def test_a_pair_falls_together_or_not_at_all(tmp_path: Path, blank: str) -> None:
    source, target = tmp_path / "a.de", tmp_path / "a.en"
    source.write_text(f"Hallo\n{blank}\nKatze\nHund", encoding="utf-8", newline="")
    target.write_text(f"Hello\nBlank?\nCat\n{blank}\n", encoding="utf-8", newline="")
    examination = examine([source, target])
    assert [(pair.source, pair.target) for pair in examination.pairs()] == [("Hallo", "Hello"), ("Katze", "Cat")]
    report = examination.report
    assert (report.pairs, report.usable, report.counts["blank"]) == (4, 2, 2)
    first, second = [problem for problem in report.issues if problem.check == "blank"]
    assert (first.file, first.line) == (str(source), 2) and f"{target}:2" in first.message
    assert (second.file, second.line) == (str(target), 4) and f"{source}:4" in second.message


def test_tsv_and_blank_lines_in_it(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("Hallo\tHello\n\n\tBlank?\nHund\t\nKatze\tCat\n", encoding="utf-8")
    examination = examine([tmp_path / "a.tsv"])
    assert [(pair.source, pair.target) for pair in examination.pairs()] == [("Hallo", "Hello"), ("Katze", "Cat")]
    assert examination.report.counts["blank"] == 3 and not examination.report.errors

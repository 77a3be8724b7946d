"""N13: copies are counted and reported; a pair that stands 10,000 times is trained on once, and the report says so."""

from pathlib import Path

from pellucid.corpus.config import DataConfig
from pellucid.corpus.doctor.examination import examine


def test_copies_are_counted_and_repetitions_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    lines = ["Guten Tag\tGood day"] * 10_000 + [
        f"Datei {chr(97 + number)}\tDatei {chr(97 + number)}" for number in range(20)
    ]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    examination = examine([path])
    report = examination.report
    assert (report.usable, report.counts["duplicate"], report.counts["copy"]) == (21, 9_999, 20)
    assert any("9,999 pairs left out" in line and "duplicate" in line for line in report.summary_lines())
    assert {problem.level for problem in report.issues if problem.check == "copy"} == {"warn"}
    assert examine([path], options=DataConfig(keep=("duplicate",))).report.usable == 10_020
    assert examine([path], options=DataConfig(drop=("copy",))).report.usable == 1


def test_the_same_source_with_another_target_is_no_duplicate(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("ja\tyes\nja\tyes, sir\nja \tyes\n", encoding="utf-8")
    report = examine([tmp_path / "a.tsv"]).report
    assert (report.usable, report.counts["duplicate"]) == (2, 1)

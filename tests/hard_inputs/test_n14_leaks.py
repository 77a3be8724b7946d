"""N14: pairs of the validation and test sets are found in the training text and left out of it, with counts."""

from pathlib import Path

from pellucid.corpus.config import DataConfig
from pellucid.corpus.doctor.examination import examine


def test_pairs_and_sources_of_both_sets_are_left_out_and_counted(tmp_path: Path) -> None:
    for name, text in (
        ("train.tsv", "eins\tone\nzwei\ttwo\n drei\tthree\nvier\tfour\n"),
        ("valid.tsv", "\ufeffzwei\ttwo\n"),
        ("test.tsv", "drei\tthree, my dear\nfünf\tfive\n"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    examination = examine([tmp_path / "train.tsv"], valid=[tmp_path / "valid.tsv"], test=[tmp_path / "test.tsv"])
    assert [pair.source for pair in examination.pairs()] == ["eins", "vier"]
    first, second = [problem for problem in examination.report.issues if problem.check == "leak"]
    assert examination.report.counts["leak"] == 2
    assert f"{tmp_path / 'valid.tsv'}:1" in first.message and "pair" in first.message and first.line == 2
    assert f"{tmp_path / 'test.tsv'}:1" in second.message and "source" in second.message and second.line == 3
    kept = examine([tmp_path / "train.tsv"], valid=[tmp_path / "valid.tsv"], options=DataConfig(keep=("leak",)))
    assert kept.report.usable == 4 and kept.report.counts["leak"] == 1

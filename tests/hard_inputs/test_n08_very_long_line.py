"""N8: a line of 10,000 characters is left out of training and counted, never cut."""

from pathlib import Path

from pellucid.corpus.config import DataConfig
from pellucid.corpus.doctor.examination import examine


def test_it_is_left_out_and_counted_unless_the_limit_is_raised(tmp_path: Path) -> None:
    long = "wort " * 2000
    (tmp_path / "a.tsv").write_text(f"Hallo\tHello\n{long}\t{long}\nKatze\tCat\n", encoding="utf-8")
    examination = examine([tmp_path / "a.tsv"])
    assert [pair.source for pair in examination.pairs()] == ["Hallo", "Katze"]
    (problem,) = [problem for problem in examination.report.issues if problem.check == "too-long"]
    assert problem.level == "drop" and problem.line == 2 and "9,999 characters" in problem.message
    raised = examine([tmp_path / "a.tsv"], options=DataConfig(max_characters=10_000))
    assert [len(pair.source) for pair in raised.pairs()] == [5, 9999, 5]

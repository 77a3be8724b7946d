r"""N3: only `\n` and `\r\n` end a line; what others take for a line end becomes a space and is reported."""

from pathlib import Path

import pytest

from pellucid.corpus.doctor.examination import examine


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\r"])
@pytest.mark.parametrize("form", ["plain", "tsv"])
def test_it_becomes_a_space_and_nothing_shifts(tmp_path: Path, separator: str, form: str) -> None:
    if form == "tsv":
        files = [tmp_path / "a.tsv"]
        files[0].write_text(f"A{separator}B\tone\r\nC\ttwo{separator}three\n", encoding="utf-8", newline="")
    else:
        files = [tmp_path / "a", tmp_path / "b"]
        files[0].write_text(f"A{separator}B\nC\n", encoding="utf-8", newline="")
        files[1].write_text(f"one\r\ntwo{separator}three\n", encoding="utf-8", newline="")
    examination = examine(files)
    assert [(pair.source, pair.target) for pair in examination.pairs()] == [("A B", "one"), ("C", "two three")]
    issues = [problem for problem in examination.report.issues if problem.check == "line-separator"]
    assert [problem.line for problem in issues] == [1, 2]
    assert f"U+{ord(separator):04X}" in issues[0].message
    assert not examination.report.errors

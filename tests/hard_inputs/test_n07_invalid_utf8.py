"""N7: bytes that are not UTF-8 are found before training, by file and line, and dropped only on request."""

from pathlib import Path

from pellucid.corpus.config import DataConfig
from pellucid.corpus.doctor.examination import examine

LINES, BAD = 70_200, 70_123


def test_line_70123_is_named_and_refused_and_dropped_only_on_request(tmp_path: Path) -> None:
    files = [tmp_path / "a.de", tmp_path / "a.en"]
    for file, word in zip(files, (b"Zeile", b"line"), strict=True):
        file.write_bytes(b"".join(b"%s %d\n" % (word, number) for number in range(1, LINES + 1)))
    content = files[1].read_bytes()
    files[1].write_bytes(content.replace(b"line %d\n" % BAD, b"line \xff\xfe %d\n" % BAD))
    skip = ("shift", "near-duplicate")
    examination = examine(files, options=DataConfig(skip=skip))
    (problem,) = examination.report.errors
    assert (problem.check, problem.file, problem.line) == ("encoding", str(files[1]), BAD)
    assert "0xff" in problem.message
    asked = examine(files, options=DataConfig(skip=skip, drop=("encoding",)))
    assert not asked.report.errors and asked.report.usable == LINES - 1
    assert all(pair.source_location.line != BAD for pair in asked.pairs())

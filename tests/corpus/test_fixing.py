"""What `--fix` writes."""

import json
from pathlib import Path
from typing import Any

import pytest

from pellucid.corpus.config import DataConfig
from pellucid.corpus.doctor.examination import examine
from pellucid.corpus.doctor.fixing import fix
from pellucid.errors import UsageError, UserError

LINES = b"uno\tone\n\tblank\nuno\tone\ndos\xff\ttwo\ntres\x0cmas\tthree\nx\ty\tz\ncuatro\tfour\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "a.tsv").write_bytes(LINES)
    return tmp_path / "a.tsv"


@pytest.mark.parametrize("suffix", [".tsv", ".jsonl"])
def test_clean_pairs_are_written_and_all_others_named_with_the_reason(
    source: Path, tmp_path: Path, suffix: str
) -> None:
    fixed = fix([source], tmp_path / f"clean{suffix}", options=DataConfig().with_fixes())
    again = examine([fixed.clean])
    expected = [("uno", "one"), ("tres mas", "three"), ("cuatro", "four")]
    assert [(pair.source, pair.target) for pair in again.pairs()] == expected
    assert not again.report.errors and again.report.usable == again.report.pairs
    assert fixed.dropped == tmp_path / f"clean.dropped{suffix}" and fixed.dropped_pairs == 4
    lines = fixed.dropped.read_text(encoding="utf-8").splitlines()
    if suffix == ".tsv":
        rows = [line.split("\t")[:3] for line in lines[1:]]
    else:
        rows = [[json.loads(line)[name] for name in ("source_location", "target_location", "check")] for line in lines]
    places = [
        (f"{source}:{line}", check) for line, check in ((2, "blank"), (4, "encoding"), (6, "columns"), (3, "duplicate"))
    ]
    assert sorted((row[0], row[2]) for row in rows) == sorted(places)
    assert source.read_bytes() == LINES


def test_sources_and_other_files_are_never_overwritten(source: Path, tmp_path: Path) -> None:
    how: dict[str, Any] = {"options": DataConfig().with_fixes()}
    link = tmp_path / "link.tsv"
    link.hardlink_to(source)
    with pytest.raises(UserError, match="one of the files to read"):
        fix([source], link, overwrite=True, **how)
    (tmp_path / "old.tsv").write_text("precious", encoding="utf-8")
    with pytest.raises(UserError, match="exists already"):
        fix([source], tmp_path / "old.tsv", **how)
    (tmp_path / "new.dropped.tsv").write_text("precious", encoding="utf-8")
    with pytest.raises(UserError, match="exists already"):
        fix([source], tmp_path / "new.tsv", **how)
    with pytest.raises(UserError, match="one of the files to read"):
        fix([source], tmp_path / "new.tsv", overwrite=True, valid=[tmp_path / "new.dropped.tsv"], **how)
    assert fix([source], tmp_path / "old.tsv", overwrite=True, **how).examination.report.usable == 3
    assert source.read_bytes() == LINES


def test_other_names_are_wrong_usage(source: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.tsv or \.jsonl"):
        fix([source], tmp_path / "clean.txt")


def test_where_nothing_remains_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("\tx\n", encoding="utf-8")
    with pytest.raises(UserError, match="no pair is usable"):
        fix([tmp_path / "a.tsv"], tmp_path / "clean.tsv", options=DataConfig().with_fixes())
    assert [path.name for path in tmp_path.iterdir()] == ["a.tsv"]


def test_broken_xml_keeps_what_stands_before_it(tmp_path: Path) -> None:
    unit = '<tu><tuv xml:lang="es"><seg>uno</seg></tuv><tuv xml:lang="en"><seg>one</seg></tuv></tu>'
    (tmp_path / "a.tmx").write_text(f'<tmx version="1.4"><body>{unit}\n<tu>', encoding="utf-8")
    assert [problem.check for problem in examine([tmp_path / "a.tmx"]).report.errors] == ["tmx"]
    fixed = fix([tmp_path / "a.tmx"], tmp_path / "clean.tsv", options=DataConfig().with_fixes())
    assert fixed.clean.read_text(encoding="utf-8") == "uno\tone\n"

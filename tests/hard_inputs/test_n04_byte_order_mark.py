"""N4: a byte order mark is no part of the first word."""

from pathlib import Path

import pytest

from pellucid.corpus.doctor import examine

CONTENTS = {
    "a.tsv": "\ufeffuno\tone\n",
    "a.jsonl": '\ufeff{"source": "uno", "target": "one"}\n',
    "a.tmx": '\ufeff<tmx version="1.4"><body><tu><tuv xml:lang="es"><seg>uno</seg></tuv>'
    '<tuv xml:lang="en"><seg>one</seg></tuv></tu></body></tmx>',
}


@pytest.mark.parametrize("name", CONTENTS)
def test_it_is_read_and_dropped(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(CONTENTS[name], encoding="utf-8")
    examination = examine([tmp_path / name])
    assert [(pair.source, pair.target) for pair in examination.pairs()] == [("uno", "one")]
    assert not examination.report.errors
    assert examination.report.counts["bom"] == (name != "a.tmx")  # in XML it is a part of the encoding


def test_on_both_sides_and_inside_where_files_were_joined(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("\ufeffuno\ndos\n\ufefftres\n", encoding="utf-8")
    (tmp_path / "b").write_text("\ufeffone\ntwo\nthree\n", encoding="utf-8")
    examination = examine([tmp_path / "a", tmp_path / "b"])
    assert [pair.source for pair in examination.pairs()] == ["uno", "dos", "tres"]
    assert examination.report.counts["bom"] == 2

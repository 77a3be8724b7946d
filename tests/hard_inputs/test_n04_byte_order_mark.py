"""N4: a byte order mark is no part of the first word."""

from pathlib import Path

import pytest

from pellucid.corpus.doctor.examination import examine
from pellucid.corpus.formats import PAIR_FORMATS

ONE_PAIR = {
    "TSV": "uno\tone\n",
    "JSONL": '{"source": "uno", "target": "one"}\n',
    "TMX": '<tmx version="1.4"><body><tu><tuv xml:lang="es"><seg>uno</seg></tuv>'
    '<tuv xml:lang="en"><seg>one</seg></tuv></tu></body></tmx>',
}


@pytest.mark.parametrize(("form", "suffix"), [(form.name, suffix) for form in PAIR_FORMATS for suffix in form.suffixes])
def test_it_is_read_and_dropped(tmp_path: Path, form: str, suffix: str) -> None:
    file = tmp_path / f"a{suffix}"
    file.write_text("\ufeff" + ONE_PAIR[form], encoding="utf-8")
    examination = examine([file])
    assert [(pair.source, pair.target) for pair in examination.pairs()] == [("uno", "one")]
    assert not examination.report.errors
    assert examination.report.counts["bom"] == (form != "TMX")  # in XML it is a part of the encoding


def test_on_both_sides_and_inside_where_files_were_joined(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("\ufeffuno\ndos\n\ufefftres\n", encoding="utf-8")
    (tmp_path / "b").write_text("\ufeffone\ntwo\nthree\n", encoding="utf-8")
    examination = examine([tmp_path / "a", tmp_path / "b"])
    assert [pair.source for pair in examination.pairs()] == ["uno", "dos", "tres"]
    assert examination.report.counts["bom"] == 2

"""Files of every form → pairs that know their place."""

import json
from pathlib import Path

import pytest

from pellucid.corpus.formats import PAIR_FILES, PAIR_FORMATS
from pellucid.corpus.pairs import Location
from pellucid.corpus.reading import group_sources, read_pairs
from pellucid.errors import UserError


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def texts(*sources: Path, **languages: str) -> list[tuple[str, str]]:
    return [(pair.source, pair.target) for pair in read_pairs(sources, **languages)]


def test_two_plain_files_are_aligned_line_by_line(tmp_path: Path) -> None:
    source, target = write(tmp_path / "a.es", "uno\ndos\n"), write(tmp_path / "a.en", "one\r\ntwo")
    pairs = list(read_pairs([source, target]))
    assert [(pair.source, pair.target) for pair in pairs] == [("uno", "one"), ("dos", "two")]
    assert pairs[1].source_location == Location(str(source), 2) and pairs[1].target_location == Location(str(target), 2)


def test_a_line_without_a_partner_is_a_fault_and_not_cut_off(tmp_path: Path) -> None:
    pairs = list(read_pairs([write(tmp_path / "a", "1\n2\n3\n"), write(tmp_path / "b", "1\n")]))
    assert [bool(pair.issues) for pair in pairs] == [False, True, True]
    assert pairs[2].issues[0].check == "line-count"


def test_every_suffix_belongs_to_one_format() -> None:
    suffixes = [suffix for form in PAIR_FORMATS for suffix in form.suffixes]
    assert len(set(suffixes)) == len(suffixes)
    assert all(form.suffixes[0] in PAIR_FILES for form in PAIR_FORMATS)


def test_formats_may_be_mixed_and_plain_files_go_two_by_two(tmp_path: Path) -> None:
    names = ["a.es", "b.tsv", "a.en", "c.es", "c.en"]
    groups = group_sources([tmp_path / name for name in names])
    found = [(group.format and group.format.name, [Path(file).name for file in group.files]) for group in groups]
    assert found == [("TSV", ["b.tsv"]), (None, ["a.es", "a.en"]), (None, ["c.es", "c.en"])]


@pytest.mark.parametrize(
    ("names", "what"),
    [
        ([], "no files"),
        (["a.es"], "no partner"),
        (["a.es", "b.es", "a.en", "b.en"], "same side"),
        (["a.csv"], "not supported"),
        (["a.json"], "not supported"),
    ],
)
def test_files_that_do_not_go_together_are_refused(names: list[str], what: str) -> None:
    with pytest.raises(UserError, match=what):
        group_sources(names)


def test_tsv_wants_two_columns_and_names_the_line_that_has_others(tmp_path: Path) -> None:
    pairs = list(read_pairs([write(tmp_path / "a.tsv", "a\tb\na\nx\ty\tz\n\n\tb\n")]))
    assert [[issue.check for issue in pair.issues] for pair in pairs] == [[], ["columns"], ["columns"], [], []]
    assert "expected 2 columns, got 3 columns" in pairs[2].issues[0].message


def test_invalid_utf8_is_a_fault_of_its_line_alone(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_bytes(b"a\tb\nbad \xff\tb\nc\td\n")
    pairs = list(read_pairs([tmp_path / "a.tsv"]))
    assert [len(pair.issues) for pair in pairs] == [0, 1, 0]
    assert pairs[1].issues[0].location.line == 2 and "0xff" in pairs[1].issues[0].message


class TestJsonLines:
    def test_source_and_target_or_two_codes_or_hugging_face(self, tmp_path: Path) -> None:
        for name, record in (
            ("a", {"source": "uno", "target": "one", "id": 3}),
            ("b", {"es": "uno", "en": "one", "score": 0.5}),
            ("c", {"translation": {"es": "uno", "en": "one"}}),
        ):
            assert texts(write(tmp_path / f"{name}.jsonl", json.dumps(record) + "\n")) == [("uno", "one")]

    def test_named_languages_choose_the_fields_with_or_without_region(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.jsonl", '{"es": "uno", "en-US": "one", "fr": "un"}\n')
        assert texts(path, source_lang="en", target_lang="fr") == [("one", "un")]
        with pytest.raises(UserError, match="es, en-US, fr"):
            texts(path)
        with pytest.raises(UserError, match="language de"):
            texts(path, source_lang="de", target_lang="fr")

    def test_faulty_lines_are_named(self, tmp_path: Path) -> None:
        lines = ['{"source": "a", "target": "b"}', "{", "[]", '{"source": "a"}', '{"source": 1, "target": "b"}']
        lines += ['{"source": "\\ud800", "target": "b"}', "[" * 5000, "", '{"source": "c", "target": "d"}']
        pairs = list(read_pairs([write(tmp_path / "a.jsonl", "\n".join(lines))]))
        checks = [[issue.check for issue in pair.issues] for pair in pairs]
        assert checks == [[], ["json"], ["json"], ["json"], ["json"], ["encoding"], ["json"], [], []]
        assert pairs[3].source_location.line == 4


TMX = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4">
<header srclang="{srclang}" datatype="plaintext"/>
<body>
{units}
</body>
</tmx>
"""


def unit(**segments: str) -> str:
    tuvs = "".join(
        f'<tuv xml:lang="{code.replace("_", "-")}"><seg>{text}</seg></tuv>' for code, text in segments.items()
    )
    return f"<tu>{tuvs}</tu>"


class TestTmx:
    def memory(self, path: Path, *units: str, srclang: str = "*all*") -> Path:
        return write(path, TMX.format(srclang=srclang, units="\n".join(units)))

    def test_units_are_pairs_with_the_line_of_their_segments(self, tmp_path: Path) -> None:
        path = self.memory(tmp_path / "a.tmx", unit(es="uno", en="one"), unit(es="dos", en="two"))
        pairs = list(read_pairs([path]))
        assert [(pair.source, pair.target) for pair in pairs] == [("uno", "one"), ("dos", "two")]
        assert [pair.source_location.line for pair in pairs] == [6, 7]

    def test_the_headers_source_language_comes_first(self, tmp_path: Path) -> None:
        assert texts(self.memory(tmp_path / "a.tmx", unit(es="uno", en="one"), srclang="EN")) == [("one", "uno")]

    def test_inline_codes_go_and_highlighted_text_stays(self, tmp_path: Path) -> None:
        seg = (
            'a <bpt i="1">&lt;b&gt;</bpt>b<ept i="1">&lt;/b&gt;</ept> <hi>c</hi>'
            '<ph>x<sub>d</sub></ph>e&amp;<it pos="begin">f</it>g'
        )
        assert texts(self.memory(tmp_path / "a.tmx", unit(es=seg, en="one\n    two")))[0] == ("a b c e&g", "one two")

    def test_namespaces_prefixes_and_the_old_attribute_are_read(self, tmp_path: Path) -> None:
        path = write(
            tmp_path / "a.tmx",
            '<t:tmx xmlns:t="http://www.lisa.org/tmx14"><t:body><t:tu><t:tuv lang="ES"><t:seg>uno</t:seg></t:tuv>'
            '<t:tuv lang="en"><t:seg>one</t:seg></t:tuv></t:tu></t:body></t:tmx>',
        )
        assert texts(path) == [("uno", "one")]

    def test_utf16_and_latin1_memories_are_read_as_they_declare(self, tmp_path: Path) -> None:
        text = TMX.format(srclang="es", units=unit(es="señor", en="sir"))
        for encoding in ("UTF-16", "ISO-8859-1"):
            (tmp_path / "a.tmx").write_bytes(text.replace("UTF-8", encoding).encode(encoding))
            assert texts(tmp_path / "a.tmx") == [("señor", "sir")]

    def test_regions_match_and_missing_sides_are_blank(self, tmp_path: Path) -> None:
        path = self.memory(
            tmp_path / "a.tmx", unit(es_MX="uno", en_US="one"), unit(es_ES="dos", en_GB="two"), unit(es="tres")
        )
        assert texts(path) == [("uno", "one"), ("dos", "two"), ("tres", "")]
        assert texts(path, source_lang="en", target_lang="es-ES")[1] == ("two", "dos")

    def test_a_third_language_must_be_chosen_from_wherever_it_comes(self, tmp_path: Path) -> None:
        path = self.memory(tmp_path / "a.tmx", unit(es="uno", en="one"), unit(es="dos", fr="deux"))
        with pytest.raises(UserError, match="es, en, fr"):
            texts(path)
        assert texts(path, source_lang="es", target_lang="fr") == [("uno", ""), ("dos", "deux")]

    def test_broken_xml_is_a_fault_after_the_units_before_it(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.tmx", TMX.format(srclang="es", units=unit(es="uno", en="one") + "\n<tu><tuv></tu>"))
        pairs = list(read_pairs([path]))
        assert pairs[0].target == "one" and not pairs[0].issues
        assert [(issue.check, issue.location.line) for issue in pairs[1].issues] == [("tmx", 7)]

    @pytest.mark.parametrize(
        "declaration",
        [
            '<!DOCTYPE tmx [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>',
            '<!DOCTYPE tmx [<!ENTITY a SYSTEM "file:///etc/hostname">]>',
            '<!DOCTYPE tmx [<!ENTITY % a SYSTEM "http://localhost/x.dtd"> %a;]>',
        ],
    )
    def test_entities_of_its_own_are_refused(self, tmp_path: Path, declaration: str) -> None:
        text = TMX.format(srclang="es", units=unit(es="&a;", en="one")).replace(
            '<!DOCTYPE tmx SYSTEM "tmx14.dtd">', declaration
        )
        with pytest.raises(UserError, match="declares entities"):
            texts(write(tmp_path / "a.tmx", text))

    def test_an_unknown_encoding_is_named_and_gets_its_own_hint(self, tmp_path: Path) -> None:
        text = TMX.format(srclang="es", units=unit(es="a", en="b")).replace("UTF-8", "x-unknown")
        with pytest.raises(UserError, match="unknown encoding") as caught:
            texts(write(tmp_path / "a.tmx", text))
        assert "entities" not in caught.value.hint

    def test_entities_of_html_that_the_dtd_would_declare_are_characters(self, tmp_path: Path) -> None:
        assert texts(self.memory(tmp_path / "a.tmx", unit(es="a&nbsp;b", en="one")))[0][0] == "a\u00a0b"

import json
from pathlib import Path

import pytest

from pellucid.cli.app import main

# Generated: each Spanish word has one English word; verbs and objects change places now and then.
WORDS = {"el": "the", "perro": "dog", "gato": "cat", "come": "eats", "ve": "sees", "pan": "bread", "pez": "fish"}
LINES = [f"El {a} {v} {o}" for a in ("perro", "gato") for v in ("come", "ve") for o in ("pan", "pez", "gato")]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    lines = [f"{line}.\t{' '.join(WORDS[w.casefold()] for w in line.split()).capitalize()}." for line in LINES]
    path.write_text("\n".join([*lines, "\tnothing", *lines]) + "\n", encoding="utf-8")
    return path


def run(*arguments: object) -> int:
    return main(["align", *map(str, arguments)])


def test_each_pair_has_a_line_of_links(pairs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(pairs) == 0
    out, err = capsys.readouterr()
    lines = out.split("\n")
    assert lines == ["0-0 1-1 2-2 3-3 4-4"] * 12 + [""] + ["0-0 1-1 2-2 3-3 4-4"] * 12 + [""]
    assert "25 pairs; words to words" in err
    assert "pairs with a blank side: 1" in err


@pytest.mark.parametrize("method", ["intersection", "union", "forward", "backward"])
def test_every_way_of_making_two_directions_one(pairs: Path, method: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(pairs, "--symmetrise", method, "--quiet") == 0
    out, err = capsys.readouterr()
    assert out.split("\n")[0] == "0-0 1-1 2-2 3-3 4-4"
    assert err == ""


def test_json_gives_the_words_and_says_what_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = tmp_path / "a.zh", tmp_path / "a.en"
    source.write_text("猫吃鱼。\n\n狗 吃 3条鱼。\n", encoding="utf-8")
    target.write_text("Cats eat fish.\nhello\nDogs eat 3 fish.\n", encoding="utf-8")
    assert run(source, target, "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["tokens"] == {"source": "characters", "target": "words"}
    assert (answer["pairs"], answer["blank"], answer["symmetrisation"]) == (3, 1, "grow-diag-final-and")
    assert set(answer["log_likelihood"]) == {"forward", "backward"}
    assert answer["alignments"][1] == {"source": [], "target": ["hello"], "links": []}
    assert answer["alignments"][2]["source"] == ["狗", "吃", "3", "条", "鱼", "。"]
    assert [5, 4] in answer["alignments"][2]["links"]


def test_the_alignment_and_the_lexicon_go_to_files(
    pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(pairs, "-o", tmp_path / "links", "--lexicon", tmp_path / "lexicon.tsv") == 0
    assert capsys.readouterr().out == ""
    assert len((tmp_path / "links").read_text(encoding="utf-8").splitlines()) == 25
    rows = [line.split("\t") for line in (tmp_path / "lexicon.tsv").read_text(encoding="utf-8").splitlines()]
    best: dict[str, tuple[str, float, float]] = {}
    for source, target, forward, backward in rows:
        best.setdefault(source, (target, float(forward), float(backward)))
    assert {source: found[0] for source, found in best.items()} == {**WORDS, ".": "."}
    assert all(found[1] > 0.5 and found[2] > 0.5 for found in best.values())


def test_a_pair_that_cannot_be_read_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.tsv"
    path.write_bytes(b"a\tb\n\xff\tb\n")
    assert run(path) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{path}:2" in err and "pellucid doctor" in err


def test_files_of_different_length_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.es").write_text("uno\ndos\n", encoding="utf-8")
    (tmp_path / "a.en").write_text("one\n", encoding="utf-8")
    assert run(tmp_path / "a.es", tmp_path / "a.en") == 1
    assert capsys.readouterr().out == ""


def test_a_text_of_blanks_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.tsv").write_text("\tone\nuno\t\n", encoding="utf-8")
    assert run(tmp_path / "a.tsv") == 1
    assert "nothing to align" in capsys.readouterr().err
    (tmp_path / "a.tsv").write_text("", encoding="utf-8")
    assert run(tmp_path / "a.tsv", "--json") == 1
    assert "nothing to align" in json.loads(capsys.readouterr().err)["error"]


def test_wrong_usage_is_named(pairs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = pairs.read_bytes()
    for wrong in (["-o", pairs], ["--lexicon", pairs], ["--iterations", "0"], ["--tension", "-1"]):
        assert run(pairs, *wrong) == 2
    assert pairs.read_bytes() == before
    assert capsys.readouterr().out == ""

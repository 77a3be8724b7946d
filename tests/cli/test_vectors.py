import json
from pathlib import Path

import numpy
import pytest

from pellucid import WordVectors
from pellucid.cli.app import main
from pellucid.storage.model_folder import write_config
from tests.conftest import Run

ROWS: dict[str, list[float]] = {
    "man": [0, 1, 0],
    "woman": [0, -1, 0],
    "he": [0, 1, 0.1],
    "she": [0, -1, 0.1],
    "king": [1, 1, 0],
    "queen": [1, -1, 0],
    "apple": [0, 0.1, 1],
    "pear": [0, -0.1, 1],
    "nurse": [0.1, -0.6, 0.2],
    "soldier": [0.1, 0.6, 0.2],
    "new york": [-1, 0, 0.5],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    vectors = WordVectors(ROWS, list(ROWS.values()), counts=range(len(ROWS), 0, -1), metadata={"epochs": 5})
    vectors.save(tmp_path / "words")
    return tmp_path / "words"


def run(*arguments: object) -> int:
    return main(["vectors", *map(str, arguments)])


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, object]:
    assert run(*arguments, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_similar_gives_a_line_an_answer(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("similar", folder, "apple", "-n", 2) == 0
    assert capsys.readouterr() == ("pear\t0.9802\nnew york\t0.4450\n", "")
    assert run("similar", folder, "apple", "king", "-n", 1) == 0
    assert capsys.readouterr().out == "apple\tpear\t0.9802\nking\tsoldier\t0.7730\n"
    assert run("similar", folder, "apple", "-n", 1, "--include-query") == 0
    assert capsys.readouterr().out == "apple\t1.0000\n"
    assert run("similar", folder, "apple", "-n", 1, "--restrict", 4) == 0
    assert capsys.readouterr().out == "he\t0.1980\n"
    together = answer(capsys, "similar", folder, "king", "queen", "--together", "-n", 1)
    assert list(together) == ["king queen"]
    assert set(answer(capsys, "similar", folder, "king", "queen")) == {"king", "queen"}


def test_an_answer_is_a_line_whatever_is_in_the_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    WordVectors(["a\tb", "c\nd\r"], [[1.0], [2.0]]).save(tmp_path / "v")
    assert run("similar", tmp_path / "v", "a\tb") == 0
    assert capsys.readouterr().out == "c\\nd\\r\t1.0000\n"


def test_analogy_and_odd_one_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("analogy", folder, "man", "king", "woman", "-n", 1) == 0
    assert capsys.readouterr().out.startswith("queen\t")
    found = answer(capsys, "analogy", folder, "man", "king", "woman", "--method", "3CosMul")
    assert (found["question"], found["method"]) == (["man", "king", "woman"], "3CosMul")
    assert run("odd-one-out", folder, "man", "he", "apple") == 0
    assert [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()] == ["apple", "man", "he"]
    assert answer(capsys, "odd-one-out", folder, "man", "he", "apple")["odd"] == "apple"


def test_axis_places_words_or_shows_the_ends(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    poles = ("--left", "man", "he", "--right", "woman", "she")
    assert run("axis", folder, "nurse", "new york", "soldier", *poles) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [word for word, _ in lines] == ["soldier", "new york", "nurse"]
    assert float(lines[0][1]) == pytest.approx(-float(lines[2][1]))
    ends = answer(capsys, "axis", folder, *poles, "-n", 1)
    assert ends["left"] == ["man", "he"]
    assert [one["word"] for one in ends["positions"]] == ["soldier", "nurse"]  # type: ignore[attr-defined]


def test_bias_by_groups_or_by_pairs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    groups = ["--x", "king", "soldier", "--y", "queen", "nurse", "--a", "man", "he", "--b", "woman", "she"]
    assert run("bias", folder, *groups) == 0
    assert capsys.readouterr().out.startswith("WEAT effect size 1.7")
    found = answer(capsys, "bias", folder, *groups, "bee", "--skip-unknown")
    assert found["weat"]["splits"] == 6 and found["weat"]["skipped"] == ["bee"]  # type: ignore[index]
    assert run("bias", folder, *groups, "bee") == 1
    assert "'bee' is not among" in capsys.readouterr().err
    assert run("bias", folder, "nurse", "soldier", "--pairs", "man:woman", "he:she") == 0
    assert [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()] == ["soldier", "nurse"]
    assert "ripa" in answer(capsys, "bias", folder, "nurse", "--pairs", "man:woman")


@pytest.mark.parametrize(
    "wrong",
    [
        ["similar"],
        ["axis", "king"],
        ["bias", "king"],
        ["bias", "--x", "king", "--pairs", "man:woman"],
        ["bias", "king", "--pairs", "man"],
        ["bias", "--pairs", "man:woman"],
        ["bias", "king", "--x", "a", "--y", "b", "--a", "c", "--b", "d"],
        ["similar", "king", "--restrict", "many"],
    ],
)
def test_wrong_usage_is_named(folder: Path, capsys: pytest.CaptureFixture[str], wrong: list[str]) -> None:
    assert run(wrong[0], folder, *wrong[1:]) == 2
    assert capsys.readouterr().out == ""


def test_align_says_what_moved_and_writes_the_turned_vectors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw = numpy.random.default_rng(1)
    rows = draw.normal(size=(50, 3))
    words = [f"w{row}" for row in range(50)]
    WordVectors(words, rows).save(tmp_path / "before")
    rows[7] *= -1
    WordVectors(words, rows @ numpy.eye(3)[[1, 2, 0]]).save(tmp_path / "after")
    assert run("drift", tmp_path / "before", tmp_path / "after", "-n", 1, "-o", tmp_path / "turned") == 0
    out, err = capsys.readouterr()
    assert out.startswith("w7\t") and "50 shared words" in err
    turned, after = (WordVectors.load(tmp_path / name) for name in ("turned", "after"))
    assert all(float(turned.unit_vector(word) @ after.unit_vector(word)) > 0.9 for word in words if word != "w7")
    assert run("drift", tmp_path / "before", tmp_path / "after", "-o", tmp_path / "after") == 1
    assert "after already contains word vectors" in capsys.readouterr().err
    (tmp_path / "anchors").write_text("\ufeff" + "\n".join(words[10:]), encoding="utf-8")
    found = answer(capsys, "drift", tmp_path / "before", tmp_path / "after", "w7", "--anchors", tmp_path / "anchors")
    assert found["anchors"] == 40
    assert found["words"][0]["change"] == pytest.approx(2, abs=1e-6)  # type: ignore[index]


def test_convert_there_and_back(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("convert", folder, tmp_path / "v.txt", "--to", "word2vec-text") == 1
    assert "cannot hold 1 of the words: 'new york'" in capsys.readouterr().err
    assert run("convert", folder, tmp_path / "v.txt.gz", "--to", "word2vec-text", "--escape") == 0
    assert "dropped: counts, metadata" in capsys.readouterr().err
    assert run("convert", tmp_path / "v.txt.gz", tmp_path / "back", "--unescape", "--quiet") == 0
    assert capsys.readouterr() == ("", "")
    assert list(WordVectors.load(tmp_path / "back")) == list(ROWS)
    assert run("convert", tmp_path / "v.txt.gz", tmp_path / "back") == 1
    assert "--overwrite" in capsys.readouterr().err
    assert run("convert", tmp_path / "v.txt.gz", tmp_path / "back", "--overwrite") == 0
    assert "new\\syork" in WordVectors.load(tmp_path / "back")
    to_half = ("--to", "word2vec-binary", "--to-float16", "--escape")
    assert run("convert", folder, tmp_path / "v.bin", *to_half) == 0
    assert run("similar", tmp_path / "v.bin", "king", "--format", "word2vec-binary", "--float16") == 0
    before = (tmp_path / "v.bin").read_bytes()
    capsys.readouterr()
    assert run("convert", tmp_path / "back", tmp_path / "v.bin", "--escape") == 1
    assert "v.bin already exists" in capsys.readouterr().err
    assert (tmp_path / "v.bin").read_bytes() == before
    assert run("convert", tmp_path / "back", tmp_path / "v.bin", "--escape", "--overwrite") == 0
    assert (tmp_path / "v.bin").read_bytes() != before


def test_models_of_other_kinds_stay(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "es-en").mkdir()
    write_config(tmp_path / "es-en", "translator", {})
    assert run("convert", folder, tmp_path / "es-en", "--overwrite") == 1
    assert "holds a translator, which will not be overwritten" in capsys.readouterr().err
    assert run("similar", tmp_path / "es-en", "king") == 1
    assert "expected word vectors, but" in capsys.readouterr().err


def test_what_is_odd_about_a_file_is_a_warning_or_an_error(tmp_path: Path, run_pellucid: Run) -> None:
    (tmp_path / "v.txt").write_text("3 2\nking 1 2\nking 3 4\nqueen 2 1\n", encoding="utf-8")
    shown = run_pellucid("vectors", "similar", tmp_path / "v.txt", "king", "--quiet")
    assert shown.stdout == "queen\t0.8000\n"
    assert shown.stderr == (
        f"warning: the word 'king' is repeated, first in line 2; the first row is kept ({tmp_path / 'v.txt'}:3)\n"
    )
    strict = run_pellucid("vectors", "similar", tmp_path / "v.txt", "king", "--strict", "--json", "--quiet")
    assert (strict.returncode, strict.stdout) == (1, "")
    assert json.loads(strict.stderr)["where"] == [f"{tmp_path / 'v.txt'}:3"]


def test_info_counts_vectors_and_not_their_vocabulary(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["parameters"]) == ("vectors", {"input_vectors": 33, "total": 33})
    assert main(["info", str(folder)]) == 0
    assert "word vectors" in capsys.readouterr().out


def test_evaluate_takes_analogies_and_judgements(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "q.txt").write_text(": family\nman king woman queen\nman king x y\n", encoding="utf-8")
    (tmp_path / "s.tsv").write_text("apple\tpear\t9\nking\tqueen\t5\nman\twoman\t1\nx\ty\t3\n", encoding="utf-8")
    assert main(["evaluate", str(folder), str(tmp_path / "q.txt"), str(tmp_path / "s.tsv"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (analogies,), (similarity,) = found["analogies"], found["similarity"]
    assert (analogies["total"]["covered"], analogies["total"]["accuracy"]) == (1, 1)
    assert (similarity["spearman"], similarity["covered"], similarity["pairs"]) == (1, 3, 4)
    assert (analogies["total"]["coverage"], similarity["coverage"]) == (0.5, 0.75)
    assert main(["evaluate", str(folder), str(tmp_path / "q.txt"), str(tmp_path / "s.tsv")]) == 0
    assert "Spearman 1.000, 3 of 4 pairs covered" in capsys.readouterr().out
    assert main(["evaluate", str(folder)]) == 2
    (tmp_path / "empty").write_text("# nothing\n", encoding="utf-8")
    assert main(["evaluate", str(folder), str(tmp_path / "empty")]) == 1
    assert main(["evaluate", str(folder), str(tmp_path / "q.txt"), "--compare", str(folder)]) == 2
    assert "Measure both word vectors on the same files" in capsys.readouterr().err


def test_a_map_replaces_nothing_unasked(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.html").write_text("chapter 1", encoding="utf-8")
    assert run("map", folder, "-o", tmp_path / "thesis.html") == 1
    assert "already exists" in capsys.readouterr().err
    assert (tmp_path / "thesis.html").read_text(encoding="utf-8") == "chapter 1"
    assert run("map", folder, "-o", tmp_path / "thesis.html", "--overwrite") == 0
    assert "queen" in (tmp_path / "thesis.html").read_text(encoding="utf-8")


def test_what_is_for_translators_is_refused(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pairs.tsv").write_text("man\twoman\t9\nking\tqueen\t8\nhe\tshe\t7\n", encoding="utf-8")
    assert main(["evaluate", str(folder), str(tmp_path / "pairs.tsv"), "--beam", "4"]) == 2
    assert "for translators" in capsys.readouterr().err
    assert main(["evaluate", str(folder), str(tmp_path / "pairs.tsv")]) == 0


def test_scores_say_which_end_is_which(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("axis", folder, "nurse", "--left", "man", "--right", "woman") == 0
    assert "−: man; +: woman" in capsys.readouterr().err
    assert run("bias", folder, "nurse", "--pairs", "man:woman", "he:she") == 0
    assert "+: man, he; −: woman, she" in capsys.readouterr().err

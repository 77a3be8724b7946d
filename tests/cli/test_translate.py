"""`pellucid translate`, `score` and `evaluate` as a user runs them."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from pellucid.cli.app import main
from tests.generation.small_translator import save_translator, small_translator

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_translator(tmp_path_factory.mktemp("model"), small_translator())


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.txt"
    path.write_text("The cat ate 12 fish.\n\nHund", encoding="utf-8")
    return path


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text("那只猫\tThe cat\nHund\tdog\n", encoding="utf-8")
    return path


def test_a_process_reads_a_pipe_and_writes_a_line_for_each(
    run_pellucid: Callable[..., CompletedProcess[str]], folder: Path
) -> None:
    done = run_pellucid("translate", folder, "-", "--threads", 1, stdin="The cat\n\nHund\n")
    expected = [one.text for one in small_translator().translate(["The cat", "", "Hund"])]
    assert done.returncode == 0
    assert done.stdout.split("\n")[1] == ""
    assert [line.strip() for line in done.stdout.split("\n")[:3]] == [text.strip() for text in expected]
    assert "Traceback" not in done.stderr


def test_a_file_is_written_whole_or_not_at_all(folder: Path, source: Path, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "out.txt"
    assert main(["translate", str(folder), str(source), "-o", str(out)]) == 0
    assert capsys.readouterr().out == ""
    assert out.read_bytes().count(b"\n") == 3
    before = out.read_bytes()
    source.write_bytes(b"Hund\n\xff\n")
    assert main(["translate", str(folder), str(source), "-o", str(out)]) == 1
    assert out.read_bytes() == before
    assert f"{source}:2" in capsys.readouterr().err


def test_json_has_a_line_for_each_line(folder: Path, source: Path, capsys: Captured) -> None:
    assert main(["translate", str(folder), str(source), "--json", "--n-best", "2", "--alignment"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["line"] for one in found] == [1, 2, 3]
    assert found[1]["text"] == ""
    assert len(found[0]["n_best"]) == 2
    assert found[0]["n_best"][0]["text"] == found[0]["text"]
    links = found[0]["alignment"]
    assert {link["target"] for link in links} == set(range(len(found[0]["tokens"])))
    assert max(link["source"] for link in links) < len(found[0]["source_tokens"])
    assert {"kind", "message"} == set(found[0]["warnings"][0])


def test_columns_of_the_plain_forms(folder: Path, source: Path, capsys: Captured) -> None:
    main(["translate", str(folder), str(source), "--confidence"])
    rows = [line.split("\t") for line in capsys.readouterr().out.split("\n")[:-1]]
    assert [len(row) for row in rows] == [2, 2, 2]
    assert all(0 < float(row[0]) <= 1 for row in rows)
    main(["translate", str(folder), str(source), "--alignment"])
    rows = [line.split("\t") for line in capsys.readouterr().out.split("\n")[:-1]]
    assert [len(row) for row in rows] == [4, 4, 4]
    main(["translate", str(folder), str(source), "--n-best", "2"])
    rows = [line.split("\t") for line in capsys.readouterr().out.split("\n")[:-1]]
    assert [row[0] for row in rows] == ["1", "1", "2", "3", "3"]


def test_text_and_prefix(folder: Path, capsys: Captured) -> None:
    assert main(["translate", str(folder), "--text", "Hund", "--prefix", "The cat"]) == 0
    assert capsys.readouterr().out.startswith("The cat")


def test_a_text_may_begin_with_a_hyphen(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", str(folder), "--text", "- Hund"]) == 0
    hyphen = capsys.readouterr().out
    assert main(["translate", str(folder), "--text=- Hund"]) == 0
    assert capsys.readouterr().out == hyphen != ""


@pytest.mark.parametrize(
    ("flags", "code", "words"),
    [
        (["nofile.txt"], 1, "no such file"),
        (["--text", "a", "file"], 2, "cannot be combined"),
        (["--text", "a", "--precision", "int8"], 2, "int8"),
        (["--text", "a", "--beam", "2", "--n-best", "3"], 1, "n_best 3 needs a beam"),
        (["--beem", "3"], 2, "unknown option --beem"),
        (["a", "b"], 2, "expected one file, got 2: a, b"),
    ],
)
def test_mistakes_are_told(flags: list[str], code: int, words: str, folder: Path, capsys: Captured) -> None:
    assert main(["translate", str(folder), *flags]) == code
    said = capsys.readouterr()
    assert words in said.err
    assert said.out == ""


def test_score_gives_totals_and_tokens(folder: Path, pairs: Path, capsys: Captured) -> None:
    assert main(["score", str(folder), str(pairs)]) == 0
    totals = [float(line) for line in capsys.readouterr().out.split()]
    assert main(["score", str(folder), str(pairs), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["total"] for one in found] == pytest.approx(totals, abs=1e-4)
    assert found[1]["total"] == pytest.approx(sum(token["log_prob"] for token in found[1]["tokens"]))
    assert set(found[0]["tokens"][0]) == {"id", "text", "log_prob"}
    assert main(["score", str(folder)]) == 2


def test_score_names_the_line_of_a_pair_that_is_too_long(
    folder: Path, pairs: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pellucid.evaluation import pair_scores

    monkeypatch.setattr(pair_scores, "free_bytes", lambda device: 2_000.0)
    monkeypatch.setattr(pair_scores, "BATCH_BYTES", 1)
    pairs.write_text(f"那只猫\tThe cat\nHund\t{'dog ' * 40}\n", encoding="utf-8")
    assert main(["score", str(folder), str(pairs), "--json"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert json.loads(printed.err)["where"] == [f"{pairs}:2"]


@pytest.mark.parametrize("command", ["score", "evaluate"])
def test_one_pair_is_one_pair(folder: Path, pairs: Path, capsys: Captured, command: str) -> None:
    pairs.write_text("Hund\tdog\n", encoding="utf-8")
    assert main([command, str(folder), str(pairs)]) == 0
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("1 pair")
    assert "1 pairs" not in said


def test_score_of_an_empty_file_is_an_empty_list(folder: Path, pairs: Path, capsys: Captured) -> None:
    pairs.write_text("", encoding="utf-8")
    assert main(["score", str(folder), str(pairs), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_evaluate_gives_scores_with_signatures_and_compares(folder: Path, pairs: Path, capsys: Captured) -> None:
    assert main(["evaluate", str(folder), str(pairs), "--compare", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) >= {"bleu", "chrf", "signatures", "pairs", "compare"}
    assert found["pairs"] == 2
    assert "tok:13a" in found["signatures"]["bleu"]
    assert found["compare"]["bleu"]["first"] == found["compare"]["bleu"]["second"] == found["bleu"]
    assert main(["evaluate", str(folder), str(pairs), "--target-lang", "zh"]) == 0
    assert "tok:zh" in capsys.readouterr().out


def test_evaluate_refuses_sides_of_different_length(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "a.zh").write_text("猫\n猫\n", encoding="utf-8")
    (tmp_path / "a.en").write_text("cat\n", encoding="utf-8")
    assert main(["evaluate", str(folder), str(tmp_path / "a.zh"), str(tmp_path / "a.en")]) == 1
    assert "a.zh:2" in capsys.readouterr().err

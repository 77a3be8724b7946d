"""`pellucid doctor` as a user runs it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pellucid.cli.app import main
from pellucid.corpus.doctor.checks import CHECKS


@pytest.fixture
def good(tmp_path: Path) -> Path:
    (tmp_path / "good.tsv").write_text("uno\tone\ndos\ttwo\n", encoding="utf-8")
    return tmp_path / "good.tsv"


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    (tmp_path / "bad.tsv").write_bytes(b"uno\tone\nd\xffs\ttwo\n")
    return tmp_path / "bad.tsv"


def test_it_exits_0_if_training_would_take_the_text_and_1_if_not(
    good: Path, bad: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", str(good)]) == 0
    assert "nothing to report" in capsys.readouterr().out
    assert main(["doctor", str(bad)]) == 1
    out, log = capsys.readouterr()
    assert f"--> {bad}:2" in out and "hint:" in out and "Training would refuse" in log
    assert main(["doctor", str(bad), "--drop", "encoding"]) == 0


def test_json_is_the_promised_form_and_all_that_stdout_holds(bad: Path, run_pellucid: Callable[..., object]) -> None:
    done = run_pellucid("doctor", bad, "--json")
    assert done.returncode == 1  # type: ignore[attr-defined]
    report = json.loads(done.stdout)  # type: ignore[attr-defined]
    assert list(report) == ["files", "pairs", "usable", "issues", "counts"]
    assert report["issues"][0]["check"] == "encoding" and report["issues"][0]["line"] == 2


def test_fix_writes_clean_pairs_and_leavings(bad: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "clean.tsv"
    assert main(["doctor", str(bad), "--fix", str(out)]) == 0
    assert out.read_text(encoding="utf-8") == "uno\tone\n"
    assert f"wrote {tmp_path / 'clean.dropped.tsv'}: 1" in capsys.readouterr().err
    assert main(["doctor", str(bad), "--fix", str(out)]) == 1
    assert main(["doctor", str(bad), "--fix", str(out), "--overwrite"]) == 0


def test_list_names_every_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--list"]) == 0
    listed = capsys.readouterr().out
    assert all(f"{check.id} ({check.level})" in listed and check.meaning in listed for check in CHECKS.values())
    assert main(["doctor", "--list", "--json"]) == 0
    assert [check["id"] for check in json.loads(capsys.readouterr().out)] == list(CHECKS)


def test_several_files_may_follow_a_flag(good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "v.es").write_text("uno\n", encoding="utf-8")
    (tmp_path / "v.en").write_text("one\n", encoding="utf-8")
    files = [str(tmp_path / "v.es"), str(tmp_path / "v.en")]
    assert main(["doctor", str(good), "--json", "--valid", *files]) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["leak"] == 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["nowhere.tsv"], 1, "no such file"),
        ([], 2, "no text given"),
        (["--valid", "GOOD"], 2, "before --valid"),
        (["--drop", "coppy", "GOOD"], 2, "no check is called"),
        (["GOOD", "--drop", "coppy"], 2, "no check is called"),
        (["GOOD", "--max-characters", "0"], 2, "max-characters"),
        (["GOOD", "--fix", "GOOD"], 1, "one of the files to read"),
        (["GOOD", "--fix", "x.doc"], 2, ".tsv or .jsonl"),
    ],
)
def test_mistakes_are_said_without_a_traceback(
    good: Path, arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", *(str(good) if word == "GOOD" else word for word in arguments)]) == code
    log = capsys.readouterr().err
    assert said in log and log.startswith("error:") and "Traceback" not in log

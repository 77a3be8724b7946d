"""Bad input to the lab: seeds, folders and files."""

import dataclasses
import json
import math
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pellucid.claims import find_claims, run_claims
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.lab import judge_outcome
from pellucid.claims.report import create_report_folder
from pellucid.errors import UsageError, UserError
from tests.claims.whole_report import write_report
from tests.conftest import Run

WORDS = [["king", "queen", "man", "woman", "paris", "france", "rome", "italy", "a", "the", "is", "of"]] * 200
QUESTION = "king man queen woman\n"


def own_files(folder: Path, *, analogies: str = QUESTION, similarity: str = "king\tqueen\t9\nman\tthe\t1\n") -> Path:
    folder.mkdir()
    lines = [" ".join(words[n % 7 :] + words[: n % 7]) for n, words in enumerate(WORDS)]
    (folder / "text.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "analogies.txt").write_text(analogies, encoding="utf-8")
    (folder / "similarity.tsv").write_text(similarity, encoding="utf-8")
    return folder


@pytest.mark.parametrize("seed", [-1, 2**64, 10**40])
def test_a_seed_out_of_range_is_rejected_before_anything_runs(seed: int) -> None:
    with pytest.raises(UsageError, match="expected a seed from 0 to"):
        run_claims(find_claims(["M2"]), seed=seed)


def test_seeds_up_to_the_last_run(tmp_path: Path) -> None:
    for seed in (0, 2**62):
        (outcome,) = run_claims(find_claims(["M1"]), seed=seed)
        assert outcome.verdict == "holds"


@pytest.mark.parametrize("name", ["nowhere", "a file"])
def test_data_that_is_not_a_folder_is_rejected_before_anything_runs(tmp_path: Path, name: str) -> None:
    (tmp_path / "a file").touch()
    with pytest.raises(UserError, match="is not a folder"):
        run_claims(find_claims(["M2"]), data=tmp_path / name)


def test_questions_of_unknown_words_are_missing_and_do_not_refute(tmp_path: Path) -> None:
    data = own_files(tmp_path / "own", analogies="zeus hera ares eris\n", similarity="zeus\thera\t3\nares\teris\t1\n")
    outcomes = list(run_claims(find_claims(["E6", "E10"]), quick=True, data=data))
    assert [one.verdict for one in outcomes] == ["not-run", "not-run"]
    for one, name in zip(outcomes, ("similarity.tsv", "analogies.txt"), strict=True):
        assert one.condition is not None and name in one.condition.en and name in one.condition.zh
    write_report(tmp_path / "lab", outcomes, "zh")


@pytest.mark.parametrize("where", ["afile", "afile/lab", "folder"])
def test_a_folder_that_cannot_hold_a_report_is_reported_before_anything_runs(
    run_pellucid: Run, tmp_path: Path, where: str
) -> None:
    (tmp_path / "afile").write_text("mine", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "figures").write_text("mine", encoding="utf-8")
    ended = run_pellucid("claims", "run", "M2", "-o", tmp_path / where)
    assert ended.returncode == 1 and ended.stdout == ""
    assert ended.stderr.startswith("error: cannot write") and "hint:" in ended.stderr
    assert (tmp_path / "afile").read_text(encoding="utf-8") == "mine"


def test_a_folder_without_write_permission_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(UserError, match="permission denied"):
        create_report_folder(tmp_path / "lab")


def test_a_broken_file_leaves_the_report_of_earlier_claims(run_pellucid: Run, tmp_path: Path) -> None:
    data = own_files(tmp_path / "own", analogies="king man queen\n")
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "keep.txt").write_text("mine", encoding="utf-8")
    ended = run_pellucid("claims", "run", "M2", "E10", "M3", "--quick", "--data", data, "-o", tmp_path / "lab")
    assert ended.returncode == 1 and "analogies.txt:1" in ended.stderr
    assert ended.stdout.startswith("M2  holds")
    told = json.loads((tmp_path / "lab" / "claims.json").read_text(encoding="utf-8"))
    assert [one["id"] for one in told] == ["M2"]
    assert 'id="M2"' in (tmp_path / "lab" / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "lab" / "figures" / "M2.svg").exists() and (tmp_path / "lab" / "keep.txt").exists()


def test_a_killed_run_leaves_the_report_so_far(tmp_path: Path) -> None:
    # The second claim waits for a signal: the run can only be killed.
    program = (
        "import dataclasses, signal, pellucid.claims.catalogue as catalogue\n"
        "from pellucid.cli import claims\n"
        "claims._SECONDS_BETWEEN_REPORTS = 0.0\n"
        "first, second = catalogue.find_claims(['M2', 'M5'])\n"
        "def forever(setup):\n"
        "    print('runs', flush=True)\n"
        "    signal.pause()\n"
        "catalogue.all_claims = lambda: (first, dataclasses.replace(second, experiment=forever))\n"
        f"claims.run('M2', 'M5', output=__import__('pathlib').Path({str(tmp_path / 'lab')!r}), as_json=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "runs\n"
        process.send_signal(signal.SIGTERM)
    told = json.loads((tmp_path / "lab" / "claims.json").read_text(encoding="utf-8"))
    assert [one["id"] for one in told] == ["M2"]
    assert (tmp_path / "lab" / "report.html").exists() and (tmp_path / "lab" / "report.md").exists()


def test_non_finite_numbers_are_null_in_json(tmp_path: Path) -> None:
    (claim,) = find_claims(["M2"])
    records: list[dict[str, Any]] = [{"x": 1, "y": math.nan}, {"x": 2, "y": math.inf, "many": [[1.0, -math.inf]]}]
    evidence = Evidence(exact_values(largest_difference=math.inf), records, Figure("line", "x", "y"))
    outcome = judge_outcome(claim, evidence, None, quick=False, seed=1, seconds=0.0)
    write_report(tmp_path, [dataclasses.replace(outcome)], "en")
    (told,) = json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert told["evidence"]["records"] == [{"x": 1, "y": None}, {"x": 2, "y": None, "many": [[1.0, None]]}]

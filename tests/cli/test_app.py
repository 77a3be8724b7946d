import importlib
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Annotated

import pytest
from cyclopts import Parameter
from pydantic import BaseModel, Field

from pellucid.cli import app, console
from pellucid.cli.flags import DEFAULT_MODEL_FLAGS, ModelFlags
from pellucid.cli.training_flags import DEFAULT_TRAINING_FLAGS, Settings, given_settings
from pellucid.errors import UserError
from pellucid.storage.model_folder import write_config
from tests.conftest import ROOT, Run
from tests.generation.small_translator import save_translator, small_translator


def probe(
    *files: Path,
    beam: int = 4,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    flags: ModelFlags = DEFAULT_MODEL_FLAGS,
) -> int | None:
    """Do what the test asks for."""
    match files[0].name if files else "":
        case "user":
            raise UserError("wrong", where="a:1", hint="Fix it.")
        case "ours":
            raise RuntimeError("inner words")
        case "interrupt":
            raise KeyboardInterrupt
        case "pipe":
            raise BrokenPipeError
        case "code":
            return 1
    console.log("message")
    console.data(f"{beam} {flags.device} {flags.precision} {flags.threads}")
    return None


def configured(*files: Path, minutes: float | None = None, **settings: Settings) -> None:
    """Show the settings."""
    console.data_json(given_settings(settings, DEFAULT_TRAINING_FLAGS))


class Limits(BaseModel):
    max_words: int = Field(8, ge=1, description="Most words.")


def limited(*, limits: Annotated[Limits, Parameter(name="*")] = Limits()) -> None:  # noqa: B008
    """Show the limit."""
    console.data_json(limits.max_words)


@pytest.fixture(autouse=True)
def commands(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    module = ModuleType("pellucid.cli.probe")
    module.probe = probe  # type: ignore[attr-defined]
    module.configured = configured  # type: ignore[attr-defined]
    module.limited = limited  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pellucid.cli.probe", module)
    monkeypatch.setitem(app.COMMANDS, "probe", app.Command("probe:probe", "Do what the test asks for."))
    monkeypatch.setitem(app.COMMANDS, "limited", app.Command("probe:limited", "Show the limit."))
    monkeypatch.setitem(app.COMMANDS, "train probe", app.Command("probe:configured", "Show the settings."))
    monkeypatch.setattr(console, "use_utf8", lambda: None)
    yield
    console.set_quiet(False)


def test_a_command_gets_its_flags(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["probe", "--beam", "2", "--device", "cpu", "--precision=float32"]) == 0
    assert capsys.readouterr() == ("2 cpu float32 None\n", "message\n")


def test_shared_flags_apply_before_the_command_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert app.main(["probe", "--quiet", "--threads", "2"]) == 0
    assert capsys.readouterr() == ("4 auto auto 2\n", "")
    assert os.environ["OMP_NUM_THREADS"] == os.environ["RAYON_NUM_THREADS"] == "2"


def test_the_exit_code_of_a_command_is_passed_through() -> None:
    assert app.main(["probe", "code"]) == 1


def test_a_user_error_has_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["probe", "user"]) == 1
    assert capsys.readouterr() == ("", "error: wrong\n  --> a:1\nhint: Fix it.\n")


def test_with_json_an_error_is_json_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["probe", "user", "--json"]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert json.loads(shown.err) == {"error": "wrong", "where": ["a:1"], "hint": "Fix it."}


def test_a_bug_shows_its_traceback_and_how_to_report_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["probe", "ours"]) == 70
    shown = capsys.readouterr().err
    assert "Traceback" in shown and "inner words" in shown and "hint: Report it" in shown


def test_ctrl_c_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["probe", "interrupt"]) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (["prob"], ["unknown command prob", "Did you mean `pellucid probe`?"]),
        (["zzz"], ["unknown command zzz", "`pellucid` has the commands demo, doctor, train"]),
        (["train", "translater"], ["unknown command translater", "Did you mean `pellucid train translator`?"]),
        (["--zzz"], ["unknown option --zzz"]),
        (["probe", "--beem", "3"], ["unknown option: --beem", "--> pellucid probe", "Did you mean --beam?"]),
        (
            ["probe", "--beam", "x"],
            ["invalid value for --beam", "`pellucid probe --help` lists its arguments and flags"],
        ),
        (["probe", "--beam"], ["--beam needs a value"]),
        (["probe", "--precision", "float23"], ['Did you mean "float32"?']),
        (["probe", "--threads", "0"], ["expected at least one thread, got 0"]),
        (["limited", "--max-words", "0"], ["greater than or equal to 1", "--> pellucid limited --max-words"]),
        (["probe", "--model.dropout", "0"], ["unknown option: --model.dropout", "take settings with a dot"]),
        (["info"], ["FOLDER is missing"]),
        (["info", "a", "b"], ["unexpected argument b"]),
        (["train", "probe", "--model.dropout"], ["--model.dropout needs a value"]),
        (["train", "probe", "--model.dropout", "--minutes", "1"], ["--model.dropout needs a value"]),
        (["train", "probe", "--model.a.dropout", "1"], ["a setting consists of a section and a field"]),
        (["train", "probe", "--minute", "1"], ["unknown option: --minute", "Did you mean --minutes?"]),
        (
            ["train", "probe", "--xyzzy"],
            ["unknown option: --xyzzy", "lists its arguments and flags"],
        ),
    ],
)
def test_a_usage_error_suggests_the_nearest_name(
    tokens: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.main(tokens) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error: ")
    for word in words:
        assert word in shown.err


def test_settings_reach_training_as_typed(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["train", "probe", "a", "--training.learning_rate", "3e-4", "--model.d_ff=8"]) == 0
    assert json.loads(capsys.readouterr().out) == {"training.learning_rate": "3e-4", "model.d_ff": "8"}
    assert app.main(["train", "probe", "a"]) == 0
    assert json.loads(capsys.readouterr().out) == {}


@pytest.mark.parametrize(
    ("tokens", "value"),
    [
        (["--a.b", "-1e-4"], "-1e-4"),
        (["--a.b=--x"], "--x"),
        (["--a.b="], ""),
        (["--a.b=x=1\ny"], "x=1\ny"),
        (["--a.b", "[1, 2]"], "[1, 2]"),
    ],
)
def test_values_of_settings_are_not_interpreted(
    tokens: list[str], value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.main(["train", "probe", *tokens, "file"]) == 0
    assert json.loads(capsys.readouterr().out) == {"a.b": value}


def test_a_misspelt_setting_is_left_to_the_recipe_that_knows_the_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["train", "probe", "--training.learning-rate", "1"]) == 0
    assert json.loads(capsys.readouterr().out) == {"training.learning-rate": "1"}


def test_help_fits_a_terminal_and_lists_the_commands(run_pellucid: Run) -> None:
    alone, asked = run_pellucid(), run_pellucid("--help")
    assert (alone.returncode, asked.returncode) == (0, 0)
    assert alone.stdout == asked.stdout
    for name in ("demo", "doctor", "train", "translate", "score", "evaluate", "align", "info"):
        assert name in asked.stdout
    assert max(map(len, asked.stdout.splitlines())) <= 80


@pytest.mark.parametrize("words", app.COMMANDS)
def test_a_command_s_help_has_all_of_its_docstring_and_fits_a_terminal(
    words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert app.main([*words.split(), "--help"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith(f"Usage: pellucid {words}")
    assert max(map(console.display_width, out.splitlines())) <= 80
    module, _, name = app.COMMANDS[words].path.partition(":")
    docstring = inspect.getdoc(getattr(importlib.import_module(f"pellucid.cli.{module}"), name)) or ""
    assert plain(docstring.partition("\nArgs:")[0]) in plain(out)


def plain(text: str) -> str:
    return " ".join(text.replace("`", "").split())


def test_the_version_is_the_packages(run_pellucid: Run) -> None:
    import pellucid

    assert run_pellucid("--version").stdout == pellucid.__version__ + "\n"


def test_output_is_utf8_whatever_the_system_says(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "pellucid", "info", "没有"],
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"},
        check=False,
    )
    assert ended.returncode == 1
    assert "没有" in ended.stderr.decode("utf-8")


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    write_config(tmp_path, "translator", {})
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        [sys.executable, "-m", "pellucid", "info", str(tmp_path)],
        stdout=writing,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (141, b"")


def test_a_full_disk_behind_standard_output_is_a_user_error(tmp_path: Path) -> None:
    write_config(tmp_path, "translator", {})
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); "
        "from pellucid.cli.app import main; sys.exit(main())"
    )
    with (tmp_path / "out.txt").open("wb") as out:
        ended = subprocess.run(
            [sys.executable, "-c", program, "info", str(tmp_path)],
            stdout=out,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=False,
        )
    assert ended.returncode == 1
    assert b"the disk is full: cannot write standard output" in ended.stderr
    assert b"Traceback" not in ended.stderr
    assert b"Exception ignored" not in ended.stderr


@pytest.mark.parametrize(("closed", "words"), [("<&-", "standard input is closed"), (">&-", "output is closed")])
def test_a_closed_stream_is_a_user_error(tmp_path: Path, closed: str, words: str) -> None:
    folder = save_translator(tmp_path, small_translator())
    ended = subprocess.run(
        ["sh", "-c", f'echo Hund | {{ "$0" -m pellucid translate "$1" {closed}; }}', sys.executable, str(folder)],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert ended.returncode == 1
    assert words in ended.stderr.decode("utf-8")
    assert b"Traceback" not in ended.stderr


def test_a_command_that_only_writes_a_file_needs_no_standard_output(tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("eins\tone\n", encoding="utf-8")
    command = f'"{sys.executable}" -m pellucid doctor pairs.tsv --fix clean.tsv --quiet >&-'
    ended = subprocess.run(
        ["sh", "-c", command],
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert b"Traceback" not in ended.stderr


def test_text_that_is_not_unicode_is_escaped(tmp_path: Path) -> None:
    program = "from pellucid.cli import console; console.use_utf8(); console.data('\\ud800 \\udce4\\udcbd\\udca0 好')"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, cwd=ROOT, check=False)
    assert ended.stdout == "\\ud800 你 好\n".encode()

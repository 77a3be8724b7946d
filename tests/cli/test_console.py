import io
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from pellucid.cli import console
from pellucid.errors import UserError


@pytest.fixture(autouse=True)
def not_quiet() -> Iterator[None]:
    yield
    console.set_quiet(False)


@dataclass
class Clock:
    seconds: float = 0.0

    def monotonic(self) -> float:
        return self.seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("pellucid.cli.console.time", clock)
    return clock


class Terminal(io.StringIO):
    """Replaces stderr within `with terminal:`; pytest would undo a replacement made by a fixture."""

    def isatty(self) -> bool:
        return True

    def __enter__(self) -> "Terminal":
        self.before, sys.stderr = sys.stderr, self
        return self

    def __exit__(self, *_: object) -> None:
        sys.stderr = self.before


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Terminal()


def test_results_go_to_stdout_and_messages_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    console.data("[bold]好[/bold]")
    console.log("[red]message")
    console.warn("careful")
    assert capsys.readouterr() == ("[bold]好[/bold]\n", "[red]message\nwarning: careful\n")


def test_quiet_silences_messages_only(capsys: pytest.CaptureFixture[str]) -> None:
    console.set_quiet(True)
    console.data("data")
    console.log("message")
    console.warn("careful")
    console.error(UserError("wrong", where="a.txt", hint="Fix it."))
    assert capsys.readouterr() == ("data\n", "warning: careful\nerror: wrong\n  --> a.txt\nhint: Fix it.\n")


def test_json_is_one_readable_line_without_nan(capsys: pytest.CaptureFixture[str]) -> None:
    console.data_json({"text": "好\n", "n": 1.5})
    assert capsys.readouterr().out == '{"text": "好\\n", "n": 1.5}\n'
    with pytest.raises(ValueError, match="JSON"):
        console.data_json(float("nan"))


def test_an_error_has_the_same_three_fields_for_people_and_programs(capsys: pytest.CaptureFixture[str]) -> None:
    mistake = UserError("no such file", where="a.txt:3", hint="Check the path.")
    console.error(mistake)
    assert capsys.readouterr().err == "error: no such file\n  --> a.txt:3\nhint: Check the path.\n"
    console.error(mistake, as_json=True)
    assert json.loads(capsys.readouterr().err) == {
        "error": "no such file",
        "where": ["a.txt:3"],
        "hint": "Check the path.",
    }


def test_columns_line_up_with_chinese_in_them(capsys: pytest.CaptureFixture[str]) -> None:
    console.table(["词", "count"], [["好久不见", 12345], ["a", None]])
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["词         count", "────────────────", "好久不见  12,345", "a"]


def test_a_table_may_have_no_rows_or_no_header() -> None:
    assert console.format_table(["a", "b"], []) == ["a  b", "────"]
    assert console.format_table(["", ""], [["x", 1.23456], ["yy", True]]) == ["x   1.235", "yy    yes"]


def test_the_display_width_is_that_of_a_terminal() -> None:
    assert [console.display_width(text) for text in ("", "abc", "好", "é", "e\u0301")] == [0, 3, 2, 1, 1]


def test_short_work_shows_no_progress(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with console.progress("Reading", 10, "lines") as work:
        for _ in range(10):
            clock.seconds += 0.09
            work.advance()
    assert capsys.readouterr() == ("", "")


def test_long_work_shows_plain_lines_without_a_terminal(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with console.progress("Reading", 3000, "lines") as work:
        for _ in range(30):
            clock.seconds += 0.5
            work.advance(100, note="now")
    assert capsys.readouterr().err.splitlines() == [
        "Reading: 200 / 3,000 lines (7%), 1 s, now",
        "Reading: 2,200 / 3,000 lines (73%), 11 s, now",
    ]


def test_progress_needs_no_total(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with console.progress("Reading", unit="lines") as work:
        clock.seconds = 2
        work.update(1234)
    assert capsys.readouterr().err == "Reading: 1,234 lines, 2 s\n"


def test_the_unit_of_a_single_item_is_singular(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with console.progress("Reading", unit="lines") as work:
        clock.seconds = 2
        work.update(1)
        clock.seconds = 20
        work.update(2)
    with console.progress("Translating", 1, "lines") as work:
        clock.seconds = 40
        work.update(0)
    assert capsys.readouterr().err.splitlines() == [
        "Reading: 1 line, 2 s",
        "Reading: 2 lines, 20 s",
        "Translating: 0 / 1 line (0%), 20 s",
    ]


def test_quiet_work_shows_nothing(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    console.set_quiet(True)
    with console.progress("Reading") as work:
        clock.seconds = 100
        work.advance()
    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_a_bar_and_messages_above_it(clock: Clock, terminal: Terminal) -> None:
    with terminal, console.progress("Reading [x]", 10, "lines") as work:
        clock.seconds = 2
        work.update(4, note="half")
        console.log("message [bold]")
    shown = terminal.getvalue()
    assert "Reading [x]" in shown and "4 / 10 lines" in shown and "half" in shown
    assert "message [bold]\n" in shown.replace("\r", "")
    assert "\x1b[?25h" in shown  # the cursor is shown again


def test_the_bar_disappears_when_the_work_fails(clock: Clock, terminal: Terminal) -> None:
    with terminal, pytest.raises(RuntimeError), console.progress("Reading", 10) as work:
        clock.seconds = 2
        work.advance()
        raise RuntimeError
    before = terminal.getvalue()
    with terminal:
        console.log("after")
    assert "Reading" in before
    assert terminal.getvalue() == before + "after\n"


def test_colour_is_for_terminals_that_want_it(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal:
        console.warn("a")
        monkeypatch.setenv("NO_COLOR", "1")
        console.warn("b")
    assert terminal.getvalue() == "\x1b[33mwarning:\x1b[0m a\nwarning: b\n"

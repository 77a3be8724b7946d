"""The only place that prints: stdout is data, stderr is talk.

`data` and `data_json` go to stdout, for the next program in the pipe; everything else goes to stderr and is silent
under `--quiet`, but for warnings and errors. Texts are shown as they are: nothing in them is mark-up.
"""

from __future__ import annotations

import codecs
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from pellucid.errors import UserError
from pellucid.storage.files import write_error

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

__all__ = [
    "Progress",
    "data",
    "data_json",
    "data_part",
    "display_width",
    "error",
    "format_cell",
    "format_table",
    "internal_error",
    "log",
    "progress",
    "prompt",
    "set_quiet",
    "table",
    "use_utf8",
    "warn",
]

_FIRST_SIGHT = 1.0  # seconds of work before progress is shown at all
_LINE_EVERY = 10.0  # seconds between two plain lines of progress

_quiet = False
_bar: Bar | None = None  # the one on the terminal now: what is printed meanwhile must go above it


def set_quiet(quiet: bool) -> None:
    """Switch talk off or on; data, warnings and errors are printed all the same."""
    global _quiet
    _quiet = quiet


def use_utf8() -> None:
    r"""Make stdout and stderr UTF-8 with `\n`, whatever the system's default.

    Bytes of a file name that the system could not decode are written as they were, other lone surrogates escaped.
    """
    codecs.register_error("pellucid", _unencodable)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="pellucid", newline="\n")


def data(text: str) -> None:
    """Print a line of the result to stdout."""
    if _bar is not None and sys.stdout.isatty():
        _print_above_bar(text)
    else:
        _print(text, sys.stdout)


def data_part(text: str) -> None:
    """Print a part of the result to stdout as it comes: no line end behind it."""
    _print(text, sys.stdout, end="")


def data_json(value: object) -> None:
    """Print `value`, made of dicts, lists, numbers and strings, as one line of JSON to stdout.

    Raises:
        ValueError: for NaN or an infinity, which JSON does not have.
    """
    data(json.dumps(value, ensure_ascii=False, allow_nan=False))


def log(text: str = "") -> None:
    """Print a line of talk to stderr, unless quiet."""
    if not _quiet:
        _talk(text)


def prompt(mark: str) -> None:
    """Print to a terminal the mark behind which somebody types; it goes to stderr, as talk does."""
    if sys.stderr is not None and _is_terminal(sys.stderr) and not _quiet:
        _print(mark, sys.stderr, end="")


def warn(text: str) -> None:
    """Print a warning to stderr, quiet or not."""
    _talk(_painted("warning:", "33") + f" {text}")


def error(mistake: UserError, *, as_json: bool = False) -> None:
    """Print what the user must mend to stderr: what, where, hint; as one line of JSON for a program."""
    if as_json:
        _talk(json.dumps(mistake.as_dict(), ensure_ascii=False))
        return
    _talk(str(mistake).replace("error:", _painted("error:", "1;31"), 1))


def internal_error(trace: str) -> None:
    """Print the traceback of a mistake that is Pellucid's own, and what to do with it."""
    _talk(trace.rstrip())
    _talk(_painted("error:", "1;31") + " this is a mistake in Pellucid, not yours")
    _talk("hint: Report it where you got Pellucid from, with the command and all the lines above.")


def table(headers: Sequence[str], rows: Sequence[Sequence[object]], *, title: str = "") -> None:
    """Print a table to stdout as plain text, numbers to the right, as `format_table` lays it out."""
    if title:
        data(title)
    for line in format_table(headers, rows):
        data(line)


def format_table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Lay out a table in columns as wide as their widest cell; a Chinese character is two columns wide.

    Args:
        headers: one a column; all empty for a table without a head.
        rows: cells of any type; ints get thousands separators, floats four significant digits, None is empty.
    """
    shown = [[format_cell(value) for value in row] for row in rows]
    to_right = [
        any(isinstance(row[i], int | float) for row in rows)
        and all(isinstance(row[i], int | float | None) for row in rows)
        for i in range(len(headers))
    ]
    heads = [list(headers)] if any(headers) else []
    widths = [max((display_width(row[i]) for row in heads + shown), default=0) for i in range(len(headers))]
    lines = []
    for row in heads + shown:
        cells = [_padded(cell, widths[i], to_right[i]) for i, cell in enumerate(row)]
        lines.append("  ".join(cells).rstrip())
    if heads:
        lines.insert(1, "  ".join("─" * w for w in widths))
    return lines


def format_cell(value: object) -> str:
    """Write a value for people: thousands separators, four significant digits, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def display_width(text: str) -> int:
    """Return how many columns of a terminal `text` takes: Chinese characters take two, combining marks none."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


class Progress:
    """How far a piece of work has come; made by `progress`, advanced by the worker."""

    def __init__(self, what: str, total: float | None, unit: str) -> None:
        self.what = what
        self.total = total
        self.unit = unit
        self.done: float = 0
        self.note = ""
        self._started = time.monotonic()
        self._next_sight = self._started + _FIRST_SIGHT
        self._task: TaskID | None = None

    def advance(self, amount: float = 1, note: str | None = None) -> None:
        """Count `amount` more as done, and show `note` beside it from now on."""
        self.update(self.done + amount, note)

    def update(self, done: float, note: str | None = None) -> None:
        """Set how much is done in all, and show `note` beside it from now on."""
        self.done = done
        if note is not None:
            self.note = note
        if not _quiet and time.monotonic() >= self._next_sight:
            self._show()

    def _show(self) -> None:
        if not _is_terminal(sys.stderr):
            self._next_sight = time.monotonic() + _LINE_EVERY
            _talk(self._line())
            return
        global _bar
        if _bar is None:
            _bar = _new_bar()
        first = self._task is None
        if self._task is None:
            self._task = _bar.add_task(self.what, total=self.total, amount="", note="")
        _bar.update(self._task, completed=self.done, total=self.total, amount=self._amount(), note=self.note)
        if first:
            _bar.start()
        self._next_sight = time.monotonic() + 0.2

    def _amount(self) -> str:
        of_total = f" / {format_cell(_whole(self.total))}" if self.total is not None else ""
        pluralize = self.done if self.total is None else self.total
        unit = self.unit.removesuffix("s") if pluralize == 1 else self.unit
        return f"{format_cell(_whole(self.done))}{of_total} {unit}".rstrip()

    def _line(self) -> str:
        share = f" ({self.done / self.total:.0%})" if self.total else ""
        seconds = time.monotonic() - self._started
        note = f", {self.note}" if self.note else ""
        return f"{self.what}: {self._amount()}{share}, {seconds:.0f} s{note}"

    def _end(self) -> None:
        global _bar
        if self._task is None or _bar is None:
            return
        _bar.remove_task(self._task)
        if not _bar.tasks:
            _bar.stop()
            _bar = None


@contextmanager
def progress(what: str, total: float | None = None, unit: str = "") -> Iterator[Progress]:
    """Show how far a piece of work is, once it takes longer than a second.

    A bar when stderr is a terminal, a plain line every ten seconds otherwise, nothing when quiet.

    Args:
        what: the work, as in "Reading the pairs".
        total: how much there is to do, in `unit`; None if nobody knows.
        unit: of what, as in "lines".
    """
    work = Progress(what, total, unit)
    try:
        yield work
    finally:
        work._end()


def _new_bar() -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    return Bar(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[amount]}", markup=False),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        console=Console(file=sys.stderr),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
        refresh_per_second=4,
    )


def _unencodable(error: UnicodeError) -> tuple[str | bytes, int]:
    try:
        return codecs.lookup_error("surrogateescape")(error)
    except UnicodeError:
        return codecs.backslashreplace_errors(error)


def _talk(text: str) -> None:
    if _bar is not None:
        _print_above_bar(text)
    else:
        _print(text, sys.stderr)


def _print(text: str, stream: TextIO | None, end: str = "\n") -> None:
    if stream is None:  # closed by whoever started the program, as by `>&-`
        if stream is sys.stdout:
            raise UserError("standard output is closed", where="standard output", hint="Write to a file with `-o`.")
        return
    try:
        stream.write(text + end)
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        if stream is not sys.stdout:
            return  # nobody is left to be told
        # What is still to be flushed at the end of the process must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise write_error("standard output", error) from error


def _print_above_bar(text: str) -> None:
    from rich.text import Text

    assert _bar is not None
    _bar.console.print(Text.from_ansi(text), soft_wrap=True, highlight=False)


def _painted(word: str, colour: str) -> str:
    if not _is_terminal(sys.stderr) or os.environ.get("NO_COLOR"):
        return word
    return f"\x1b[{colour}m{word}\x1b[0m"


def _is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _whole(value: float) -> float | int:
    return int(value) if float(value).is_integer() else value


def _padded(cell: str, columns: int, to_right: bool) -> str:
    gap = " " * (columns - display_width(cell))
    return gap + cell if to_right else cell + gap

"""The only module that prints: results to stdout, messages to stderr.

`data`, `data_part`, `data_json` and `table` write results to stdout, for the next program in the pipe. Everything else
goes to stderr; `--quiet` silences it except for warnings and errors. Text is printed verbatim, never read as markup.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from pellucid.errors import UserError
from pellucid.storage.files import atomic_file, write_error

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
    "format_json",
    "format_table",
    "internal_error",
    "log",
    "output",
    "progress",
    "prompt",
    "set_quiet",
    "table",
    "use_utf8",
    "warn",
]

_PROGRESS_DELAY = 1.0  # seconds of work before any progress is shown
_LINE_INTERVAL = 10.0  # seconds between two plain lines of progress
_BAR_INTERVAL = 0.2  # seconds between two updates of the bar
_WIDEST_TABLE = 100_000  # columns: tables are never cut or wrapped

_quiet = False
_bar: Bar | None = None  # the one now on the terminal; other output must be printed above it


def set_quiet(quiet: bool) -> None:
    """Silence messages, or show them again; results, warnings and errors are always printed."""
    global _quiet
    _quiet = quiet


def use_utf8() -> None:
    r"""Make stdout and stderr write UTF-8 with `\n`, whatever the system's default.

    Bytes of a file name that could not be decoded are written unchanged; other lone surrogates are escaped.
    """
    codecs.register_error("pellucid", _unencodable)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="pellucid", newline="\n")


def data(text: str) -> None:
    """Print a line of the results to stdout."""
    if _bar is not None and sys.stdout.isatty():
        _print_above_bar(text)
    else:
        _print(text, sys.stdout)


def data_part(text: str) -> None:
    """Print a piece of the results to stdout at once, without ending the line."""
    _print(text, sys.stdout, end="")


def data_json(value: object) -> None:
    """Print a value as one line of JSON to stdout, see `format_json`."""
    data(format_json(value))


@contextmanager
def output(file: Path | None) -> Iterator[Callable[[str], object]]:
    """Yield the function that writes a line of the results: to stdout, or to a file that is created as a whole."""
    if file is None:
        yield data
        return
    with atomic_file(file) as stream:
        yield lambda line: stream.write(f"{line}\n".encode())


def log(text: str = "") -> None:
    """Print a message to stderr, unless quiet."""
    if not _quiet:
        _to_stderr(text)


def prompt(mark: str) -> None:
    """Print the prompt behind which the user types, if stderr is a terminal."""
    if sys.stderr is not None and _is_terminal(sys.stderr) and not _quiet:
        _print(mark, sys.stderr, end="")


def warn(text: str) -> None:
    """Print a warning to stderr, quiet or not."""
    _to_stderr(_coloured("warning:", "33") + f" {text}")


def error(user_error: UserError, *, as_json: bool = False) -> None:
    """Print a user's error to stderr: what, where and hint, or the same fields as one line of JSON."""
    if as_json:
        _to_stderr(json.dumps(user_error.as_dict(), ensure_ascii=False))
        return
    _to_stderr(str(user_error).replace("error:", _coloured("error:", "1;31"), 1))


def internal_error(trace: str) -> None:
    """Print the traceback of a bug in Pellucid, and how to report it."""
    _to_stderr(trace.rstrip())
    _to_stderr(_coloured("error:", "1;31") + " this is a bug in Pellucid")
    _to_stderr("hint: Report it where you got Pellucid from, with the command and all the lines above.")


def table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table to stdout, laid out by `format_table`."""
    for line in format_table(headers, rows):
        data(line)


def format_table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Lay out a table as lines of plain text, with columns of numbers aligned to the right.

    Args:
        headers: one per column; all empty for a table without a header row.
        rows: cells of any type, written by `format_cell`.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    has_head = any(headers)
    layout = Table(
        box=SIMPLE_HEAD if has_head else None,
        show_header=has_head,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1 if has_head else 2, 0, 0),  # beside the space that a box puts between columns
    )
    for i, header in enumerate(headers):
        numeric = any(isinstance(row[i], int | float) for row in rows)
        numeric = numeric and all(isinstance(row[i], int | float | None) for row in rows)
        layout.add_column(Text(header), justify="right" if numeric else "left", no_wrap=True)
    for row in rows:
        layout.add_row(*(Text(format_cell(value)) for value in row))
    page = io.StringIO()
    Console(file=page, width=_WIDEST_TABLE, color_system=None).print(layout)
    return [line.rstrip() for line in page.getvalue().splitlines()]


def format_json(value: object) -> str:
    """Format a value, made of dicts, lists, numbers and strings, as one line of JSON.

    Raises:
        ValueError: if it contains NaN or infinity, which JSON does not have.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def format_cell(value: object) -> str:
    """Format a value for people: thousands separators, four significant digits, nothing for None."""
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
    """Count the columns of a terminal that `text` takes: two for a Chinese character, none for a combining mark."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


class Progress:
    """Progress of one piece of work, as yielded by `progress`."""

    def __init__(self, what: str, total: float | None, unit: str) -> None:
        self.what = what
        self.total = total
        self.unit = unit
        self.done: float = 0
        self.note = ""
        self._started = time.monotonic()
        self._next_update = self._started + _PROGRESS_DELAY
        self._task: TaskID | None = None

    def advance(self, amount: float = 1, note: str | None = None) -> None:
        """Add `amount` to what is done, and show `note` beside it from now on."""
        self.update(self.done + amount, note)

    def update(self, done: float, note: str | None = None) -> None:
        """Set the amount done so far, and show `note` beside it from now on."""
        self.done = done
        if note is not None:
            self.note = note
        if not _quiet and time.monotonic() >= self._next_update:
            self._show()

    def _show(self) -> None:
        if not _is_terminal(sys.stderr):
            self._next_update = time.monotonic() + _LINE_INTERVAL
            _to_stderr(self._line())
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
        self._next_update = time.monotonic() + _BAR_INTERVAL

    def _amount(self) -> str:
        of_total = f" / {format_cell(_whole(self.total))}" if self.total is not None else ""
        unit = self.unit.removesuffix("s") if (self.done if self.total is None else self.total) == 1 else self.unit
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
    """Show the progress of work that takes longer than a second.

    A terminal gets a bar, any other stderr a plain line every ten seconds; nothing is shown when quiet.

    Args:
        what: the work, such as "Reading the pairs".
        total: the amount of work, in `unit`; None if unknown.
        unit: what is counted, in the plural, such as "lines".
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


def _to_stderr(text: str) -> None:
    if _bar is not None:
        _print_above_bar(text)
    else:
        _print(text, sys.stderr)


def _print(text: str, stream: TextIO | None, end: str = "\n") -> None:
    if stream is None:  # closed when the program was started, as by `>&-`
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
            return  # there is nowhere left to report it
        # Python flushes stdout once more at exit, and that must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise write_error("standard output", error) from error


def _print_above_bar(text: str) -> None:
    from rich.text import Text

    assert _bar is not None
    _bar.console.print(Text.from_ansi(text), soft_wrap=True, highlight=False)


def _coloured(word: str, colour: str) -> str:
    if not _is_terminal(sys.stderr) or os.environ.get("NO_COLOR"):
        return word
    return f"\x1b[{colour}m{word}\x1b[0m"


def _is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _whole(value: float) -> float | int:
    return int(value) if float(value).is_integer() else value

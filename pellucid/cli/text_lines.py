"""Read lines of UTF-8 text from a file or standard input; errors name the line."""

import sys
from collections.abc import Iterator

from pellucid.corpus.text_files import guess_encoding, read_lines
from pellucid.errors import UserError

__all__ = ["is_interactive", "text_lines"]


def is_interactive(file: str | None) -> bool:
    """Whether the lines are typed by a person: no file is given, and standard input is a terminal.

    Raises:
        UserError: if standard input is needed and closed.
    """
    if file not in (None, "-"):
        return False
    if sys.stdin is None:
        raise UserError(
            "standard input is closed", where="standard input", hint="Name a file, or give the text as an argument."
        )
    return sys.stdin.isatty()


def text_lines(file: str | None) -> Iterator[str]:
    """Yield the lines of a file, or of standard input for None and `-`, without a byte order mark.

    Raises:
        UserError: at the first line that is not UTF-8, with its number.
    """
    name, numbered = ("standard input", _stdin_lines()) if file in (None, "-") else (str(file), read_lines(str(file)))
    for number, line in numbered:
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UserError(
                f"not UTF-8: byte {error.start + 1} of the line is 0x{line[error.start]:02x}",
                where=f"{name}:{number}",
                hint=f"Convert the text with `iconv -f {guess_encoding(line)} -t UTF-8`; the lines before are valid.",
            ) from error


def _stdin_lines() -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(sys.stdin.buffer, 1):
        yield number, line.removesuffix(b"\n").removesuffix(b"\r")

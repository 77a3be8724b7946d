"""How commands take text: lines of a file or of standard input, sentence pairs, and documents."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.corpus.documents import BOUNDARY_WORDS, Document, read_valid_documents
from pellucid.corpus.formats import PAIR_FILES
from pellucid.corpus.text_files import guess_encoding, read_lines
from pellucid.errors import UsageError, UserError

__all__ = [
    "DEFAULT_TEXTS",
    "MODEL_FILES_HELP",
    "PAIR_FILES_HELP",
    "PairFiles",
    "TextOptions",
    "is_interactive",
    "no_pairs_error",
    "text_lines",
    "usable_documents",
]

PAIR_FILES_HELP = f"{PAIR_FILES[:1].upper()}{PAIR_FILES[1:]}, source first; .gz, .xz and .zst files are read directly."

MODEL_FILES_HELP = (
    f"For a translator, {PAIR_FILES}, source first. For a language model, text files, or .jsonl files with text or "
    "with prompt and completion; only the completion is scored."
)

PairFiles: TypeAlias = Annotated[Path, Parameter(help=PAIR_FILES_HELP)]
"""One of the files given: `*sources: PairFiles`."""


def no_pairs_error(command: str) -> UsageError:
    """Create the error for a command that was given no files."""
    return UsageError("no files given", where=f"pellucid {command}", hint=f"Name {PAIR_FILES}.")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """How texts are read; for language models only."""

    documents: Annotated[Literal["auto", "blank-line", "line", "file"], Parameter()] = "auto"
    """Texts: what ends a document of a plain text. auto detects it from the blank lines, as training does."""

    stride: int | None = None
    """Texts: distance between the windows over documents longer than the context, tokens; half the context by default.
    A smaller stride gives each token more context and takes longer."""


DEFAULT_TEXTS = TextOptions()


def usable_documents(files: Sequence[Path], options: TextOptions) -> Iterator[Document]:
    """Yield the documents of files in order, and log what a document is in each plain text.

    Raises:
        UserError: at the first document that cannot be read, with file and line.
    """
    return read_valid_documents(
        files,
        options.documents,
        lambda file, boundary: console.log(
            f"{file}: {BOUNDARY_WORDS[boundary]} is a document (--documents {boundary})"
        ),
    )


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

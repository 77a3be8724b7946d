"""How commands open word vectors, and the flags of their training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.flags import ShownSwitch
from pellucid.errors import UsageError
from pellucid.word_vectors.config import VectorsConfig
from pellucid.word_vectors.files.formats import Format

if TYPE_CHECKING:
    from pellucid.word_vectors import KeyedVectors

__all__ = [
    "DEFAULT_FILE",
    "DEFAULT_VECTOR_FLAGS",
    "FileOptions",
    "Number",
    "VectorFlags",
    "Words",
    "escape_field",
    "open_vectors",
    "output_format",
    "split_pair",
    "total_size",
]

Number = Annotated[int, Parameter(name=["--number", "-n"])]
"""Type of the argument `number`: how many words are shown."""

Words = Annotated[list[str] | None, Parameter(negative="", consume_multiple=True)]
"""Type of a flag that takes several words, such as `--left man he`."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """How a file of word vectors is read."""

    format: Format | None = None
    """File format; detected from the content by default."""

    strict: ShownSwitch = False
    """Treat any problem of the file as an error, with its line or byte."""

    unescape: ShownSwitch = False
    """Decode \\s, \\n … in words as written by --escape."""

    float16: bool | None = None
    """Whether the numbers of a binary file are float16; detected from the content by default."""


DEFAULT_FILE = FileOptions()


class VectorFlags(VectorsConfig):
    """`VectorsConfig` as flags; names, defaults and help come from its fields."""

    dim: Annotated[int, Parameter(name=["--dimension", "-d"])] = VectorsConfig.model_fields["dim"]  # type: ignore[assignment]

    def given(self) -> dict[str, Any]:
        """List the settings given on the command line, by their names in `VectorsConfig`."""
        return self.model_dump(exclude_unset=True)


DEFAULT_VECTOR_FLAGS = VectorFlags()


def open_vectors(path: Path, options: FileOptions = DEFAULT_FILE) -> KeyedVectors:
    """Read vectors, with a progress bar and a warning for each problem of the file."""
    from pellucid.word_vectors.files import read_vectors

    with console.progress(f"Reading {path.name}", total_size([path]), "bytes") as bar:
        vectors = read_vectors(
            path,
            options.format,
            strict=options.strict,
            unescape=options.unescape,
            float16=options.float16,
            on_progress=bar.advance,
        )
    for problem in vectors.report.problems if vectors.report else ():
        console.warn(f"{problem.message} ({problem.where})")
    return vectors


def escape_field(word: str) -> str:
    r"""Format a word as a field of tab-separated output: tabs and line breaks become `\t`, `\n` or `\r`."""
    return word.replace("\t", r"\t").replace("\n", r"\n").replace("\r", r"\r")


def total_size(files: Sequence[Path]) -> int | None:
    """Sum the sizes of files in bytes; None if unknown because one is compressed or cannot be read."""
    if any(file.suffix.lower() in (".gz", ".xz", ".zst") for file in files):
        return None
    try:
        return sum(file.stat().st_size for file in files)
    except OSError:  # reported when the file is read
        return None


def output_format(output: Path, given: Format | None, overwrite: bool) -> Format:
    """Choose the format to write, by suffix unless given, and check that the output can be written.

    Raises:
        UserError: if it cannot be written, or exists and `overwrite` is off.
    """
    from pellucid.word_vectors.files import format_from_name
    from pellucid.word_vectors.files.writing import check_new_output

    chosen = given or format_from_name(output)
    check_new_output(output, chosen, overwrite)
    return chosen


def split_pair(pair: str) -> tuple[str, str]:
    """Split a pair of words such as man:woman.

    Raises:
        UsageError: if it is not a pair.
    """
    first, colon, second = pair.partition(":")
    if not colon or ":" in second:
        raise UsageError(f"expected a pair of words, got {pair}", where="--pairs", hint="Write it as man:woman.")
    return first, second

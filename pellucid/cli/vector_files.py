"""How commands open word vectors, and how a file of them is to be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.errors import UsageError, UserError

if TYPE_CHECKING:
    from pellucid.word_vectors import Format, WordVectors

__all__ = ["DEFAULT_FILE", "FileOptions", "Form", "check_output", "escape_field", "open_vectors", "total_size"]

Form = Literal["native", "word2vec-text", "word2vec-binary", "glove", "fasttext"]
"""The same as `pellucid.word_vectors.Format`, which would load NumPy before there is anything to read."""

_Switch = Annotated[bool, Parameter(negative="")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """How a file of vectors is read."""

    format: Form | None = None
    """What the file is; told from its content unless given."""

    strict: _Switch = False
    """Take whatever is odd about the file for an error, with its line or byte."""

    unescape: _Switch = False
    """Read \\s, \\n … in words as --escape has written them."""

    float16: bool | None = None
    """Whether the numbers of a binary file have two bytes; told from its content unless given."""


DEFAULT_FILE = FileOptions()


def open_vectors(path: Path, options: FileOptions = DEFAULT_FILE) -> WordVectors:
    """Read vectors; what is odd about the file is told as warnings."""
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
        console.warn(f"{problem.message} ({problem.place})")
    return vectors


def escape_field(word: str) -> str:
    r"""Return a word as a field of a line: a tab or a line end in it is written as `\t`, `\n` or `\r`."""
    return word.replace("\t", r"\t").replace("\n", r"\n").replace("\r", r"\r")


def total_size(files: Sequence[Path]) -> int | None:
    """Return how many bytes there are to read; None if nobody knows, since a file is packed or cannot be read."""
    if any(file.suffix.lower() in (".gz", ".xz", ".zst") for file in files):
        return None
    try:
        return sum(file.stat().st_size for file in files)
    except OSError:  # whoever reads it says what is wrong
        return None


def check_output(output: Path, form: Form | None, overwrite: bool, resume: bool = False) -> Format:
    """Return the form that vectors are written in, by the output's name unless given.

    Raises:
        UserError: if something stands there and may not be replaced, or nothing can be written there.
        UsageError: if the form has no place for checkpoints to go on from.
    """
    from pellucid.storage.checkpoints import latest_checkpoint
    from pellucid.word_vectors.files import check_output_path, format_from_name

    chosen = form or format_from_name(output)
    check_output_path(output, chosen)
    if resume:
        _check_begun(output, chosen, overwrite)
        return chosen
    begun = chosen == "native" and latest_checkpoint(output) is not None
    there = (output / "config.json").is_file() if chosen == "native" else output.is_file()
    if (there or begun) and not overwrite:
        what = "exists" if chosen != "native" else "holds word vectors" if there else "holds a training begun"
        hint = "Add `--overwrite` to replace it, or name another place."
        raise UserError(
            f"{output} {what} already", where=str(output), hint=f"`--resume` goes on with it. {hint}" if begun else hint
        )
    return chosen


def _check_begun(output: Path, form: Format, overwrite: bool) -> None:
    from pellucid.storage.checkpoints import latest_checkpoint

    if overwrite:
        raise UsageError("--resume and --overwrite exclude each other", hint="Go on with the training, or start anew.")
    if form != "native":
        raise UsageError(
            "there is nothing to go on from in a file of vectors",
            where=str(output),
            hint="Train into a folder (`-o FOLDER`), which has checkpoints; `pellucid vectors convert` makes the file.",
        )
    if latest_checkpoint(output) is not None:
        return
    progress = _stopped_at(output)
    if progress is not None:
        raise UserError(
            f"the training in {output} was stopped after {progress:.0%}, but has no whole checkpoint to go on from",
            where=str(output / "checkpoints"),
            hint=f"Name another folder with `-o` and add `--from {output}`, or start anew with `--overwrite`.",
        )
    if (output / "config.json").is_file():
        raise UserError(
            f"{output} holds word vectors whose training has ended: nothing is left to do",
            where=str(output),
            hint=f"To train them on more text, name another folder with `-o` and add `--from {output}`.",
        )
    console.log(f"{output} has no checkpoint yet: starting from the beginning.")


def _stopped_at(output: Path) -> float | None:
    """Return how far the training of vectors had come that was stopped; None if none was."""
    from pellucid.storage.model_folder import read_json

    try:
        training = read_json(output / "report.json")["training"]
        return float(training["progress"]) if training["stopped"] else None
    except (UserError, KeyError, TypeError, ValueError):
        return None

"""How every command takes files of sentence pairs."""

from pathlib import Path
from typing import Annotated, TypeAlias

from cyclopts import Parameter

from pellucid.corpus.formats import PAIR_FILES
from pellucid.errors import UsageError

__all__ = ["MODEL_FILES_HELP", "PAIR_FILES_HELP", "PairFiles", "no_pairs_error"]

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

"""How commands take texts for a language model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.corpus.documents import BOUNDARY_WORDS, Document, read_valid_documents

__all__ = ["DEFAULT_TEXTS", "TextOptions", "usable_documents"]


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

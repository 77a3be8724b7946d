"""Documents for commands that use all of a text: one that cannot be read is an error, not left out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.pairs import AUTO_FIXED
from pellucid.corpus.documents import Document, detect_boundary, is_jsonl, read_documents
from pellucid.errors import UserError

__all__ = ["DEFAULT_TEXTS", "TextOptions", "usable_documents"]

_ENDS = {"line": "a line", "blank-line": "what stands between blank lines", "file": "the whole file"}


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """How texts are read; of language models only."""

    documents: Annotated[Literal["auto", "blank-line", "line", "file"], Parameter()] = "auto"
    """Texts: what ends a document of a plain text; auto judges by its blank lines, as training does, and says so."""

    stride: int | None = None
    """Texts: how far apart the windows over documents longer than the context are, tokens; half the context unless
    given. Smaller: more of the text before each token is seen, and it takes longer."""


DEFAULT_TEXTS = TextOptions()


def usable_documents(files: Sequence[Path], options: TextOptions) -> Iterator[Document]:
    """Yield the documents of the files in their order, long ones in parts.

    Raises:
        UserError: at the first one that cannot be read, with file and line.
    """
    for file in map(str, files):
        boundary = detect_boundary(file) if options.documents == "auto" else options.documents
        if not is_jsonl(file):
            console.log(f"{file}: {_ENDS[boundary]} is a document (--documents {boundary})")
        for raw in read_documents(file, boundary):
            for issue in raw.issues:
                if issue.check not in AUTO_FIXED | {
                    "control-character",
                    "blank",
                }:  # that nothing follows is probable, too
                    raise UserError(
                        issue.message,
                        where=str(issue.location),
                        hint="Mend the file; all of it is to be used here, nothing is left out.",
                    )
            yield raw.document

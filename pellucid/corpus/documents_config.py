"""How a text is cut into documents, and how it is judged before it is learnt from."""

from typing import Literal, Self

from pydantic import Field, model_validator

from pellucid.corpus.config import CheckOptions, validate_check_names

__all__ = ["DOCUMENT_CHECKS", "Boundary", "DocumentsConfig"]

Boundary = Literal["blank-line", "line", "file"]

DOCUMENT_CHECKS = (
    "encoding",
    "json",
    "empty",
    "blank",
    "duplicate",
    "leak",
    "bom",
    "line-separator",
    "control-character",
    "mojibake",
)
"""The checks that a text of documents undergoes, of the doctor's table."""


class DocumentsConfig(CheckOptions):
    """What a document is, whether one may look at another, and levels of checks (`data.*` of a language model)."""

    documents: Literal["auto", "blank-line", "line", "file"] = Field(
        "auto",
        description="what ends a document: a blank line, a line, or the end of the file. auto: a line where no line is "
        "blank; a blank line where what stands between them is long, 400 characters on the median; else the file, as "
        "for a play, whose blank lines only part its speeches",
    )
    cross_documents: bool = Field(
        False, description="let tokens look at the documents before theirs that share the context with it"
    )

    @model_validator(mode="after")
    def _checks_exist(self) -> Self:
        validate_check_names({"drop": self.drop, "keep": self.keep, "skip": self.skip}, DOCUMENT_CHECKS)
        return self

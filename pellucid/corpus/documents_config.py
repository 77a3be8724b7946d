"""Settings for splitting a text into documents and checking them before training."""

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
"""The checks of the doctor's table that apply to documents."""


class DocumentsConfig(CheckOptions):
    """What a document is, whether documents see each other, and levels of checks (`data.*` of a language model)."""

    documents: Literal["auto", "blank-line", "line", "file"] = Field(
        "auto",
        description="what ends a document: a blank line, a line end, or the end of the file. auto: a line end if there "
        "are no blank lines; a blank line if the texts between them are long, at least 400 characters in the median; "
        "otherwise the end of the file, as for a play, whose blank lines only separate speeches",
    )
    cross_documents: bool = Field(
        False, description="let tokens attend to the preceding documents in the same context window"
    )

    @model_validator(mode="after")
    def _validate(self) -> Self:
        validate_check_names({"drop": self.drop, "keep": self.keep, "skip": self.skip}, DOCUMENT_CHECKS)
        return self

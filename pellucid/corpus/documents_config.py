"""How a text is cut into documents, and how it is judged before it is learnt from."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from pellucid.corpus.config import check_names, split_names
from pellucid.corpus.doctor.checks import CHECKS, Level

__all__ = ["TEXT_CHECKS", "Cut", "DocumentsConfig"]

Cut = Literal["blank-line", "line", "file"]

TEXT_CHECKS = (
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


class DocumentsConfig(BaseModel):
    """What a document is, whether one may look at another, and levels of checks (`data.*` of a language model)."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    documents: Literal["auto", "blank-line", "line", "file"] = Field(
        "auto",
        description="what ends a document: a blank line, a line, or the end of the file. auto: a line where no line is "
        "blank; a blank line where what stands between them is long, 400 characters on the median; else the file, as "
        "for a play, whose blank lines only part its speeches",
    )
    cross_documents: bool = Field(
        False, description="let tokens look at the documents before theirs that share the context with it"
    )
    drop: tuple[str, ...] = Field(
        (), description="checks whose documents are left out, whatever the table says; errors among them do not refuse"
    )
    keep: tuple[str, ...] = Field((), description="checks that only report, whatever the table says")
    skip: tuple[str, ...] = Field((), description="checks that are not made at all")

    @field_validator("drop", "keep", "skip", mode="before")
    @classmethod
    def _from_one_string(cls, value: object) -> object:
        """Take `duplicate,mojibake` for two names."""
        return split_names(value)

    @model_validator(mode="after")
    def _checks_exist(self) -> Self:
        check_names({"drop": self.drop, "keep": self.keep, "skip": self.skip}, TEXT_CHECKS)
        return self

    def level(self, check: str) -> Level:
        """Return the level of a check: the user's choice, else the table's."""
        if check in self.drop:
            return "drop"
        return "warn" if check in self.keep else CHECKS[check].level

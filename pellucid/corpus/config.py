"""Settings for checking sentence pairs, and for splitting and checking documents, before training."""

from collections.abc import Collection, Iterable
from typing import ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from pellucid.corpus.doctor.checks import CHECKS, UNUSABLE, Level
from pellucid.errors import did_you_mean

__all__ = ["DOCUMENT_CHECKS", "Boundary", "CheckOptions", "DataConfig", "DocumentsConfig"]

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


class CheckOptions(BaseModel):
    """The user's choices about checks, which override the table.

    Attributes:
        known: the names of all checks.
        unusable: checks whose lines cannot be used, so that they can only be dropped.
    """

    known: ClassVar[Collection[str]] = CHECKS
    unusable: ClassVar[Collection[str]] = UNUSABLE

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    drop: tuple[str, ...] = Field(
        (), description="leave out pairs or documents with these issues, even issues that would otherwise stop training"
    )
    keep: tuple[str, ...] = Field((), description="report these issues, but keep the pairs or documents")
    skip: tuple[str, ...] = Field((), description="do not run these checks")

    @field_validator("drop", "keep", "skip", mode="before")
    @classmethod
    def _split_names(cls, value: object) -> object:
        """Split `copy,number` into two names, alone or in a list; other values are left to pydantic to reject."""
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, Iterable):
            return value
        return tuple(name for part in value for name in (part.split(",") if isinstance(part, str) else (part,)) if name)

    @model_validator(mode="after")
    def _validate_names(self) -> Self:
        """Reject names that are not checks, and choices that are impossible."""
        for field in ("drop", "keep", "skip"):
            for name in getattr(self, field):
                if name not in self.known:
                    raise ValueError(f"no check is called {name!r}. {did_you_mean(name, sorted(self.known))}")
                if field != "drop" and name in self.unusable:
                    raise ValueError(f"{name} cannot be among those to {field}: such lines cannot be used for training")
        for name in set(self.drop) & set(self.keep):
            raise ValueError(f"{name} is among both the checks to drop and those to keep")
        return self

    def level(self, check: str) -> Level:
        """The level of a check: the user's choice, else the table's."""
        if check in self.drop:
            return "drop"
        if check in self.keep:
            return "warn"
        return CHECKS[check].level


class DataConfig(CheckOptions):
    """Limits and levels of the doctor's checks (`data.*` in a recipe)."""

    unusable: ClassVar[Collection[str]] = UNUSABLE | {"blank", "unpaired"}

    max_characters: int = Field(
        2000, gt=0, description="maximum characters of a side; about 500 tokens of English, 1,300 of Chinese"
    )
    min_characters: int = Field(2, ge=1, description="report sides of fewer characters as too short")
    max_ratio: float = Field(
        4.0,
        gt=1,
        description="maximum ratio of a side's length to the length expected from its partner; 10 characters are added "
        "to both, which tolerates larger differences between short sides",
    )

    @model_validator(mode="after")
    def _validate_lengths(self) -> Self:
        if self.min_characters > self.max_characters:
            raise ValueError(f"min_characters {self.min_characters} exceeds max_characters {self.max_characters}")
        return self

    def with_fixes(self) -> Self:
        """Copy the settings with every error turned into leaving out its pairs, as `--fix` does."""
        fixable = tuple(check.id for check in CHECKS.values() if check.level == "error" and check.id != "empty")
        return self.model_copy(update={"drop": tuple(dict.fromkeys((*self.drop, *fixable)))})


class DocumentsConfig(CheckOptions):
    """What a document is, whether documents see each other, and levels of checks (`data.*` of a language model)."""

    known: ClassVar[Collection[str]] = DOCUMENT_CHECKS

    documents: Literal["auto", "blank-line", "line", "file"] = Field(
        "auto",
        description="what ends a document: a blank line, a line end, or the end of the file. auto: a line end if there "
        "are no blank lines; a blank line if the texts between them are long, at least 400 characters in the median; "
        "otherwise the end of the file, as for a play, whose blank lines only separate speeches",
    )
    cross_documents: bool = Field(
        False, description="let tokens attend to the preceding documents in the same context window"
    )

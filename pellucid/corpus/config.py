"""Settings for checking sentence pairs before training."""

from collections.abc import Collection, Iterable, Mapping
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from pellucid.corpus.doctor.checks import CHECKS, UNUSABLE, Level
from pellucid.errors import did_you_mean

__all__ = ["CheckOptions", "DataConfig", "split_check_names", "validate_check_names"]

_NOT_A_PAIR = UNUSABLE | {"blank", "unpaired"}


class CheckOptions(BaseModel):
    """The user's choices about checks, which override the table."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    drop: tuple[str, ...] = Field(
        (), description="leave out pairs or documents with these issues, even issues that would otherwise stop training"
    )
    keep: tuple[str, ...] = Field((), description="report these issues, but keep the pairs or documents")
    skip: tuple[str, ...] = Field((), description="do not run these checks")

    @field_validator("drop", "keep", "skip", mode="before")
    @classmethod
    def _split_names(cls, value: object) -> object:
        return split_check_names(value)

    def level(self, check: str) -> Level:
        """The level of a check: the user's choice, else the table's."""
        if check in self.drop:
            return "drop"
        if check in self.keep:
            return "warn"
        return CHECKS[check].level


class DataConfig(CheckOptions):
    """Limits and levels of the doctor's checks (`data.*` in a recipe)."""

    max_characters: int = Field(
        2000, gt=0, description="maximum length of a side, characters; about 500 tokens of English, 1,300 of Chinese"
    )
    min_characters: int = Field(2, ge=1, description="report sides of fewer characters as too short")
    max_ratio: float = Field(
        4.0,
        gt=1,
        description="maximum ratio of a side's length to the length expected from its partner; 10 characters are added "
        "to both, which tolerates larger differences between short sides",
    )

    @model_validator(mode="after")
    def _validate(self) -> Self:
        validate_check_names({"drop": self.drop, "keep": self.keep, "skip": self.skip}, CHECKS, _NOT_A_PAIR)
        if self.min_characters > self.max_characters:
            raise ValueError(f"min_characters {self.min_characters} exceeds max_characters {self.max_characters}")
        return self

    def with_fixes(self) -> Self:
        """Copy the settings with every error turned into leaving out its pairs, as `--fix` does."""
        fixable = tuple(check.id for check in CHECKS.values() if check.level == "error" and check.id != "empty")
        return self.model_copy(update={"drop": tuple(dict.fromkeys((*self.drop, *fixable)))})


def split_check_names(value: object) -> object:
    """Split `copy,number` into two names, alone or in a list; other values are left to pydantic to reject."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, Iterable):
        return value
    return tuple(name for part in value for name in (part.split(",") if isinstance(part, str) else (part,)) if name)


def validate_check_names(
    chosen: Mapping[str, Iterable[str]], known: Iterable[str], unusable: Collection[str] = UNUSABLE
) -> None:
    """Reject names that are not checks, and choices that are impossible.

    Args:
        chosen: the names given for `drop`, `keep` and `skip`.
        known: the names of all checks.
        unusable: checks whose lines cannot be used, so that they can only be dropped.

    Raises:
        ValueError: for the first wrong name, with the closest known one.
    """
    names_of_checks = sorted(known)
    for field, names in chosen.items():
        for name in names:
            if name not in names_of_checks:
                raise ValueError(f"no check is called {name!r}. {did_you_mean(name, names_of_checks)}")
            if field != "drop" and name in unusable:
                raise ValueError(f"{name} cannot be among those to {field}: such lines cannot be used for training")
    for name in set(chosen["drop"]) & set(chosen["keep"]):
        raise ValueError(f"{name} is among both the checks to drop and those to keep")

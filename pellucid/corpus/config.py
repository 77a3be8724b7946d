"""How a text is judged before it is learnt from."""

from collections.abc import Iterable, Mapping
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from pellucid.corpus.doctor.checks import CHECKS, Level
from pellucid.errors import did_you_mean

__all__ = ["CheckOptions", "DataConfig", "split_check_names", "validate_check_names"]

_UNREADABLE = frozenset(check.id for check in CHECKS.values() if check.level == "error")


class CheckOptions(BaseModel):
    """What the user wants of the checks, against the table."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    drop: tuple[str, ...] = Field(
        (),
        description="checks whose pairs or documents are left out, whatever the table says; errors among them do not "
        "refuse",
    )
    keep: tuple[str, ...] = Field((), description="checks that only report, whatever the table says")
    skip: tuple[str, ...] = Field((), description="checks that are not made at all")

    @field_validator("drop", "keep", "skip", mode="before")
    @classmethod
    def _from_one_string(cls, value: object) -> object:
        """Take `copy,number` for two names."""
        return split_check_names(value)

    def level(self, check: str) -> Level:
        """Return the level of a check: the user's choice, else the table's."""
        if check in self.drop:
            return "drop"
        if check in self.keep:
            return "warn"
        return CHECKS[check].level


class DataConfig(CheckOptions):
    """Limits and levels of the doctor's checks (`data.*` in a recipe)."""

    max_characters: int = Field(
        2000, gt=0, description="longest side that is kept, characters; about 500 tokens of English, 1,300 of Chinese"
    )
    min_characters: int = Field(2, ge=1, description="shorter sides are reported as too short, characters")
    max_ratio: float = Field(
        4.0,
        gt=1,
        description="a side is suspicious when it is this many times as long as its partner lets expect; "
        "10 characters are added to both, so that short ones may differ more",
    )

    @model_validator(mode="after")
    def _checks_exist(self) -> Self:
        validate_check_names({"drop": self.drop, "keep": self.keep, "skip": self.skip}, CHECKS)
        if self.min_characters > self.max_characters:
            raise ValueError(f"min_characters {self.min_characters} exceeds max_characters {self.max_characters}")
        return self

    def with_fixes(self) -> Self:
        """Return the same with every error turned into leaving out what causes it: what `--fix` does."""
        mendable = tuple(check.id for check in CHECKS.values() if check.level == "error" and check.id != "empty")
        return self.model_copy(update={"drop": tuple(dict.fromkeys((*self.drop, *mendable)))})


def split_check_names(value: object) -> object:
    """Take `copy,number` for two names, alone or among others; what is no text stays for pydantic to refuse."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, Iterable):
        return value
    return tuple(name for part in value for name in (part.split(",") if isinstance(part, str) else (part,)) if name)


def validate_check_names(chosen: Mapping[str, Iterable[str]], known: Iterable[str]) -> None:
    """Refuse names that are no checks, and choices that cannot be had.

    Args:
        chosen: the names to drop, to keep and to skip, by these words.
        known: the checks there are.

    Raises:
        ValueError: for the first that is wrong, naming the nearest right one.
    """
    there = sorted(known)
    for field, names in chosen.items():
        for name in names:
            if name not in there:
                raise ValueError(f"no check is called {name!r}. {did_you_mean(name, there)}")
            if field != "drop" and name in _UNREADABLE and name != "shift":
                raise ValueError(f"{name} cannot be among those to {field}: such lines cannot be learnt from")
    for name in set(chosen["drop"]) & set(chosen["keep"]):
        raise ValueError(f"{name} is both among those to drop and to keep")

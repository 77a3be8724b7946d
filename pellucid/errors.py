"""Errors that a user can fix: what is wrong, where, and a hint."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

__all__ = ["ShapeError", "UsageError", "UserError", "did_you_mean", "invalid_setting"]


class UserError(Exception):
    """An error that the user can fix.

    Args:
        what: what is wrong, with what was expected and what was found; lower case, without a full stop.
        where: the files, arguments or settings concerned, most important first; `file:line` if the line is known.
        hint: how to fix it, in whole sentences or as a command.
    """

    exit_code = 1

    def __init__(self, what: str, *, where: str | Sequence[str], hint: str) -> None:
        super().__init__(what)
        self.what = what
        self.where = (where,) if isinstance(where, str) else tuple(where)
        self.hint = hint

    def __str__(self) -> str:
        lines = [f"error: {self.what}"]
        if self.where:
            lines.append(f"  --> {self.where[0]}")
            lines.extend(f"      {other}" for other in self.where[1:])
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, object]:
        """Convert to the three fields that `--json` prints."""
        return {"error": self.what, "where": list(self.where), "hint": self.hint}


class UsageError(UserError):
    """A command line that cannot be run as given."""

    exit_code = 2


class ShapeError(ValueError):
    """Arrays of incompatible shapes: a mistake of the calling code, not of the user."""


def did_you_mean(name: str, known: Iterable[str], otherwise: str | None = None, template: str = "{}") -> str:
    """Suggest the known name closest to a misspelled one, as an error's hint: `Did you mean beam_size?`.

    Args:
        otherwise: the hint if no name is close; lists the known names unless given.
        template: how a name is written, as in "`pellucid {}`".
    """
    names = list(known)
    if close := get_close_matches(name, names, 1):
        return f"Did you mean {template.replace('{}', close[0])}?"
    return f"There are {', '.join(names)}." if otherwise is None else otherwise


def invalid_setting(error: "ValidationError", model: "type[BaseModel]", where: str = "") -> UsageError:
    """Convert pydantic's first complaint about a setting to an error: `window: input should be …, got 0`.

    Args:
        model: the settings; the description of the field becomes the hint.
        where: the file or flag the settings come from; the field's name unless given.
    """
    first = error.errors()[0]
    name = ".".join(map(str, first["loc"]))
    what = first["msg"].removeprefix("Value error, ")
    what = what[:1].lower() + what[1:]
    if not name:
        return UsageError(what, where=where or "settings", hint="Change one of these settings.")
    field = model.model_fields.get(name)
    about = field.description if field is not None and field.description else f"Check the value of {name}."
    return UsageError(f"{name}: {what}, got {first['input']!r}", where=where or name, hint=about)

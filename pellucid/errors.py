"""What goes wrong by a user's hand: said as what, where and how to mend it."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

__all__ = ["ShapeError", "UsageError", "UserError", "did_you_mean"]


class UserError(Exception):
    """Something the user must mend before the work can go on.

    Args:
        what: one sentence, what is wrong, with what was expected and what was got.
        where: files, lines or fields it concerns, most important first; `file:line` where a line is known.
        hint: how to mend it, a full sentence or a command.
    """

    exit_code = 1

    def __init__(self, what: str, *, where: str | Sequence[str] = (), hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = (where,) if isinstance(where, str) else tuple(where)
        self.hint = hint

    def __str__(self) -> str:
        lines = [f"error: {self.what}"]
        if self.where:
            lines.append(f"  --> {self.where[0]}")
            lines.extend(f"      {place}" for place in self.where[1:])
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, object]:
        """Return the same three fields for `--json` and the server."""
        return {"error": self.what, "where": list(self.where), "hint": self.hint}


class UsageError(UserError):
    """A command line that Pellucid does not understand."""

    exit_code = 2


class ShapeError(ValueError):
    """Arrays whose shapes do not fit together: a caller's mistake, not a user's."""


def did_you_mean(name: str, known: Iterable[str], otherwise: str | None = None, template: str = "{}") -> str:
    """Suggest the known name closest to a misspelled one, as an error's hint: `Did you mean beam_size?`.

    Args:
        name: the unknown name.
        known: the names that exist.
        otherwise: the hint if no name is close; lists the known names unless given.
        template: how a name is written, as in "`pellucid {}`".
    """
    names = list(known)
    if close := get_close_matches(name, names, 1):
        return f"Did you mean {template.replace('{}', close[0])}?"
    return f"There are {', '.join(names)}." if otherwise is None else otherwise

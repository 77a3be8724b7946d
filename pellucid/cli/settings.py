"""`--section.field value` on the command line: settings of a recipe, taken out before the flags are read."""

import re
from collections.abc import Sequence

from pellucid.errors import UsageError

__all__ = ["split_settings"]

_SETTING = re.compile(r"--(?P<name>[A-Za-z_][\w-]*(?:\.[\w-]+)+)(?:=(?P<value>.*))?", re.DOTALL)


def split_settings(tokens: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Split a command line into what is left for its flags, and its settings by dotted name, values as typed.

    `--training.learning_rate 3e-4` and `--training.learning_rate=3e-4` are the same; the last of a name holds; nothing
    after `--` is a setting.

    Raises:
        UsageError: for a setting without a value.
    """
    rest: list[str] = []
    settings: dict[str, str] = {}
    i = 0
    while i < len(tokens) and tokens[i] != "--":
        match = _SETTING.fullmatch(tokens[i])
        if match is None:
            rest.append(tokens[i])
        elif match["value"] is not None:
            settings[match["name"]] = match["value"]
        else:
            i += 1
            if i == len(tokens) or tokens[i].startswith("--"):
                raise UsageError(
                    f"setting {match['name']} has no value",
                    where=match[0],
                    hint=f"Write `{match[0]} VALUE`, as in `--training.learning_rate 3e-4`.",
                )
            settings[match["name"]] = tokens[i]
        i += 1
    return rest + list(tokens[i:]), settings

"""Edits as command lines: `ablate_head encoder.0.self_attention 2`."""

import shlex
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pellucid.errors import UsageError, did_you_mean
from pellucid.inspection.look import Look
from pellucid.inspection.what_if import WhatIf

__all__ = ["EDITS", "EditCommand", "apply_edits"]

LookAt = Callable[[str, Sequence[str]], Look]
"""Looks at another text and records the named taps."""


class EditCommand(NamedTuple):
    """An edit that can be written as a line.

    Attributes:
        usage: its arguments; those in brackets are optional, dots mean one or more of the last.
    """

    usage: str
    apply: Callable[[WhatIf, list[str], LookAt], WhatIf]

    def accepts(self, count: int) -> bool:
        """Tell whether it takes this many arguments."""
        words = self.usage.split()
        least = sum(not word.startswith("[") and word != "..." for word in words)
        return least <= count and ("..." in words or count <= len(words))


def apply_edits(run: WhatIf, lines: Sequence[str], look_at: LookAt) -> WhatIf:
    """Apply edits that are written as lines.

    Args:
        lines: one edit each: the name of a method of `WhatIf`, then its arguments; a text with spaces in quotes.
        look_at: for `patch`, which takes an activation from another text.

    Raises:
        UsageError: for an unknown edit or a wrong number of arguments.
        UserError: for a token, head or tap that the model does not have.
    """
    for line in lines:
        name, arguments = _parse(line)
        try:
            run = EDITS[name].apply(run, arguments, look_at)
        except ValueError as error:
            raise _wrong_usage(line, name, str(error)) from error
    return run


def _parse(line: str) -> tuple[str, list[str]]:
    try:
        first, *arguments = shlex.split(line) or [""]
    except ValueError as error:
        raise UsageError(f"{str(error).lower()} in {line!r}", where="--what-if", hint="Close the quotes.") from error
    name = first.replace("-", "_")
    if name not in EDITS:
        completed = next((edit for edit in EDITS if name and edit.startswith(name)), name)
        message = f"there is no edit {first}" if first else "the edit is empty"
        raise UsageError(message, where="--what-if", hint=did_you_mean(completed, EDITS))
    if not EDITS[name].accepts(len(arguments)):
        raise _wrong_usage(line, name, f"{name} got {len(arguments)} arguments")
    return name, arguments


def _wrong_usage(line: str, name: str, message: str) -> UsageError:
    return UsageError(message, where=f"--what-if {line!r}", hint=f"Write {name} {EDITS[name].usage}".rstrip() + ".")


def _integer(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise ValueError(f"expected an integer, got {word}") from None


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise ValueError(f"expected a number, got {word}") from None


def _patch(run: WhatIf, arguments: list[str], look_at: LookAt) -> WhatIf:
    name, text, *positions = arguments
    run.zero(name)  # reports an unknown name before the other text is looked at
    return run.patch(name, look_at(text, [name]), *map(_integer, positions))


EDITS = {
    "mask_token": EditCommand("POSITION [source|target]", lambda run, w, _: run.mask_token(_integer(w[0]), *w[1:])),
    "replace_token": EditCommand(
        "POSITION TOKEN [source|target]", lambda run, w, _: run.replace_token(_integer(w[0]), w[1], *w[2:])
    ),
    "edit_source": EditCommand("TEXT", lambda run, w, _: run.edit_source(w[0])),
    "ablate_head": EditCommand("ATTENTION HEAD", lambda run, w, _: run.ablate_head(w[0], _integer(w[1]))),
    "keep_heads": EditCommand("ATTENTION HEAD ...", lambda run, w, _: run.keep_heads(w[0], [*map(_integer, w[1:])])),
    "zero": EditCommand("NAME [POSITION]", lambda run, w, _: run.zero(w[0], *map(_integer, w[1:]))),
    "patch": EditCommand("NAME TEXT [POSITION] [FROM_POSITION]", _patch),
    "temperature": EditCommand(
        "ATTENTION VALUE [HEAD]", lambda run, w, _: run.temperature(w[0], _number(w[1]), *map(_integer, w[2:]))
    ),
    "remove_positions": EditCommand("", lambda run, w, _: run.remove_positions()),
}
"""Edits by name, which are the methods of `WhatIf`."""

"""Edits as a line of words, for whoever does not write Python: `ablate_head encoder.0.self_attention 2`."""

import shlex
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pellucid.errors import UsageError, did_you_mean
from pellucid.inspection.look import Look
from pellucid.inspection.what_if import WhatIf

__all__ = ["EDITS", "apply_edits"]

LookAt = Callable[[str, Sequence[str]], Look]
"""Looks at another text, recording what is named."""


class _EditCommand(NamedTuple):
    """An edit.

    Attributes:
        usage: the words that follow it; those in brackets may be left out, dots mean that there may be more.
        apply: makes it.
    """

    usage: str
    apply: Callable[[WhatIf, list[str], LookAt], WhatIf]

    @property
    def fewest(self) -> int:
        """How many words it needs."""
        return sum(not word.startswith("[") and word != "..." for word in self.usage.split())

    @property
    def most(self) -> float:
        """How many it takes."""
        return float("inf") if self.usage.endswith("...") else len(self.usage.split())


def apply_edits(plain: WhatIf, lines: Sequence[str], look_at: LookAt) -> WhatIf:
    """Return a run with edits that are given in words.

    Args:
        plain: the run.
        lines: each an edit: the name of a method of `WhatIf`, then its arguments; a text with spaces in quotes.
        look_at: for `patch`, which carries numbers over from another text.

    Raises:
        UsageError: for an edit that does not exist, or has too many or too few words.
        UserError: for a token, head or number that the model does not have.
    """
    for line in lines:
        name, words = _read(line)
        verb = EDITS[name]
        try:
            plain = verb.apply(plain, words, look_at)
        except ValueError as error:
            raise _wrong(line, name, str(error)) from error
    return plain


def _read(line: str) -> tuple[str, list[str]]:
    """Return the edit that is meant, and the words that follow it."""
    try:
        first, *words = shlex.split(line) or [""]
    except ValueError as error:
        raise UsageError(f"{str(error).lower()} in {line!r}", where="--what-if", hint="Close the quotes.") from error
    name = first.replace("-", "_")
    if name not in EDITS:
        completed = next((verb for verb in EDITS if name and verb.startswith(name)), name)
        hint = did_you_mean(completed, EDITS)
        raise UsageError(f"there is no edit {first}" if first else "the edit is empty", where="--what-if", hint=hint)
    if not EDITS[name].fewest <= len(words) <= EDITS[name].most:
        raise _wrong(line, name, f"{len(words)} words follow {name}")
    return name, words


def _wrong(line: str, name: str, said: str) -> UsageError:
    return UsageError(said, where=f"--what-if {line!r}", hint=f"Write {name} {EDITS[name].usage}".rstrip() + ".")


def _number(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise ValueError(f"expected a whole number, got {word}") from None


def _decimal(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise ValueError(f"expected a number, got {word}") from None


def _patch(plain: WhatIf, words: list[str], look_at: LookAt) -> WhatIf:
    plain.zero(words[0])  # says which name is meant, before a look is taken
    return plain.patch(words[0], look_at(words[1], [words[0]]), *map(_number, words[2:]))


EDITS = {
    "mask_token": _EditCommand("POSITION [source|target]", lambda run, w, _: run.mask_token(_number(w[0]), *w[1:])),
    "replace_token": _EditCommand(
        "POSITION TOKEN [source|target]", lambda run, w, _: run.replace_token(_number(w[0]), w[1], *w[2:])
    ),
    "edit_source": _EditCommand("TEXT", lambda run, w, _: run.edit_source(w[0])),
    "ablate_head": _EditCommand("ATTENTION HEAD", lambda run, w, _: run.ablate_head(w[0], _number(w[1]))),
    "keep_heads": _EditCommand(
        "ATTENTION HEAD ...", lambda run, w, _: run.keep_heads(w[0], [_number(one) for one in w[1:]])
    ),
    "zero": _EditCommand("NAME [POSITION]", lambda run, w, _: run.zero(w[0], *map(_number, w[1:]))),
    "patch": _EditCommand("NAME TEXT [POSITION] [FROM_POSITION]", _patch),
    "temperature": _EditCommand(
        "ATTENTION VALUE [HEAD]", lambda run, w, _: run.temperature(w[0], _decimal(w[1]), *map(_number, w[2:]))
    ),
    "remove_positions": _EditCommand("", lambda run, w, _: run.remove_positions()),
}
"""Edits by name; the same as the methods of `WhatIf`."""

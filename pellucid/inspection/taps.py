"""The taps of a model: their names, what each one is, and the line of code that computes it."""

import ast
import inspect
import re
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache
from types import MappingProxyType
from typing import cast

from torch import nn

from pellucid.errors import UserError, did_you_mean
from pellucid.inspection.structure import stacks
from pellucid.layers.taps import TapInfo

__all__ = ["code_location", "require_tap", "select_taps", "tap_info", "tap_names"]


def tap_names(model: nn.Module) -> list[str]:
    """List the full names of all taps of a model, such as `encoder.0.self_attention.scores`."""
    layers = {stack.name: len(stack.blocks) for stack in stacks(model)}
    names: list[str] = []
    for tap in _declared(model):
        stack, _, rest = tap.partition(".N.")
        names += [f"{stack}.{n}.{rest}" for n in range(layers[stack])] if rest else [tap]
    return names


def tap_info(model: nn.Module, name: str) -> TapInfo:
    """Look up what a tap is by its full name."""
    return _declared(model)[re.sub(r"^(encoder|decoder)\.\d+\.", r"\1.N.", name)]


def require_tap(model: nn.Module, name: str) -> None:
    """Check that a model has a tap of this name.

    Raises:
        UserError: if it does not.
    """
    if name not in (names := tap_names(model)):
        raise _unknown_tap(name, names)


def select_taps(model: nn.Module, what: Sequence[str] | None) -> frozenset[str]:
    """Expand patterns such as `*.cross_attention.weights` or `logits` to full names; None selects all taps.

    Raises:
        UserError: for a pattern that matches no tap.
    """
    names = tap_names(model)
    if what is None:
        return frozenset(names)
    if isinstance(what, str):
        raise UserError(f"what is a list of names, got the text {what!r}", where="what", hint=f"Write what=[{what!r}].")
    selected: set[str] = set()
    for pattern in what:
        matching = [name for name in names if fnmatchcase(name, pattern)]
        if not matching:
            raise _unknown_tap(pattern, names)
        selected.update(matching)
    return frozenset(selected)


def code_location(model: nn.Module, name: str) -> str:
    """Find the line that computes a tapped number: `pellucid/layers/attention.py:107  weights = tap("weights", …)`.

    It is the line that calls `tap` with the end of the full name, in the class of the innermost module on the way to
    that name. Empty where the source code is not installed.
    """
    owners, words = [model], name.split(".")
    while isinstance(inner := getattr(owners[-1], words[len(owners) - 1], None), nn.Module):
        owners.append(inner)
        if len(owners) == len(words):
            break
    for depth, owner in reversed(list(enumerate(owners))):
        if found := _tap_lines(type(owner).__module__, type(owner).__name__).get(".".join(words[depth:])):
            return found
    return ""


def _unknown_tap(name: str, names: Sequence[str]) -> UserError:
    hint = did_you_mean(name, names, "docs/taps.md lists the names; * matches anything.")
    return UserError(f"no tap is called {name}", where="what", hint=hint)


def _declared(model: nn.Module) -> dict[str, TapInfo]:
    return {tap.name: tap for tap in cast(Sequence[TapInfo], model.taps)}


@cache
def _tap_lines(module: str, owner: str) -> MappingProxyType[str, str]:
    """Find where a class, or a function beside it (as `attend` beside `Attention`), calls `tap("name", …)`."""
    lines: dict[str, str] = {}
    try:
        source = inspect.getsource(sys.modules[module]) if module.startswith("pellucid.") else ""
    except OSError:
        source = ""
    path = f"{module.replace('.', '/')}.py"
    for part in ast.parse(source).body:
        if isinstance(part, ast.FunctionDef) or (isinstance(part, ast.ClassDef) and part.name == owner):
            for node in ast.walk(part):
                match node:
                    case ast.Call(func=ast.Name(id="tap"), args=[ast.Constant(value=str(name)), *_]):
                        code = source.splitlines()[node.lineno - 1].strip()
                        lines.setdefault(name, f"{path}:{node.lineno}  {code}")
    return MappingProxyType(lines)

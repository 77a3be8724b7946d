"""What the taps of a model are called, and what each of them is: meaning, axes and unit, read from the docstrings.

docs/taps.md is written from this, and every recorded number carries its line of it.
"""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import NamedTuple

from torch import nn

from pellucid.errors import UserError, did_you_mean
from pellucid.inspection.structure import stacks
from pellucid.layers.attention import Attention, attend
from pellucid.layers.block import DecoderBlock, SelfAttentionBlock
from pellucid.layers.feed_forward import FeedForward

__all__ = ["TapLine", "chosen_names", "documented_taps", "generic_name", "tap_line", "tap_names"]


class TapLine(NamedTuple):
    """What a docstring says about a tap."""

    meaning: str
    axes: str
    unit: str


def documented_taps(model: type[nn.Module]) -> dict[str, TapLine]:
    """Return what the docstrings say about a kind of model, by name, with N for the number of a layer."""
    taps = dict(_lines(model.__doc__))
    scopes = [name.removesuffix(".N.*") for name in re.findall(r"\w+\.N\.\*", model.__doc__ or "")]
    for stack in scopes:
        block = DecoderBlock if stack == "decoder" and "encoder" in scopes else SelfAttentionBlock
        for name, line in _block_taps(block).items():
            taps[f"{stack}.N.{name}"] = line
    return taps


def tap_names(model: nn.Module) -> list[str]:
    """Return the full names of all taps of a model, in no particular order."""
    names: list[str] = []
    layers = {stack.name: len(stack.blocks) for stack in stacks(model)}
    for name in documented_taps(type(model)):
        stack, _, rest = name.partition(".N.")
        names += [f"{stack}.{n}.{rest}" for n in range(layers[stack])] if rest else [name]
    return names


def tap_line(model: nn.Module, name: str) -> TapLine:
    """Return what is said about a tap, by its full name."""
    return documented_taps(type(model))[generic_name(name)]


def chosen_names(model: nn.Module, what: Sequence[str] | None) -> frozenset[str]:
    """Return the full names that patterns ask for: `*.cross_attention.weights`, `logits`; all of them for None.

    Raises:
        UserError: for a pattern that no tap has.
    """
    known = tap_names(model)
    if what is None:
        return frozenset(known)
    if isinstance(what, str):
        raise UserError(f"what is a list of names, got the text {what!r}", where="what", hint=f"Write what=[{what!r}].")
    found: set[str] = set()
    for pattern in what:
        matching = [name for name in known if fnmatchcase(name, pattern)]
        if not matching:
            raise UserError(
                f"no tap is called {pattern}",
                where="what",
                hint=did_you_mean(pattern, known, "docs/taps.md lists their names; * stands for anything."),
            )
        found.update(matching)
    return frozenset(found)


def generic_name(name: str) -> str:
    """Return a tap's name with N for the number of its layer."""
    return re.sub(r"^(encoder|decoder)\.\d+\.", r"\1.N.", name)


@cache
def _block_taps(block: type[nn.Module]) -> Mapping[str, TapLine]:
    """Return the taps of a block and of its parts."""
    attention = {**_lines(Attention.__doc__), **_lines(attend.__doc__)}
    taps = dict(_lines(block.__doc__))
    parts = {"self_attention": attention, "cross_attention": attention, "feed_forward": _lines(FeedForward.__doc__)}
    for part, lines in parts.items():
        if f"{part}.*" in (block.__doc__ or ""):
            taps |= {f"{part}.{name}": line for name, line in lines.items()}
    return taps


@cache
def _lines(docstring: str | None) -> Mapping[str, TapLine]:
    """Return the lines `name: meaning, [axes]; unit.` of a docstring's Taps section."""
    section = (docstring or "").partition("Taps:\n")[2].partition("\n\n")[0]
    pattern = re.compile(r"^ +([\w.]+): (.+), \[(.*)\](?:; (\w+))?\.$", re.MULTILINE)
    return {m[1]: TapLine(m[2], m[3], m[4] or "–") for m in pattern.finditer(section)}

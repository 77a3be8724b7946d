"""Scripted random choices, so that a test can ask the grammar for a particular sentence."""

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pellucid.demo.words import SentenceRng, Words, find_links, spell_chinese, spell_english
from pellucid.randomness import generator

__all__ = ["ScriptedRng", "Template", "build"]

T = TypeVar("T")
Template = Callable[[SentenceRng], tuple[Words, Words]]


class ScriptedRng(SentenceRng):
    """Chooses the option that the script names, or else the first; a chance is true if its probability is scripted."""

    def __init__(self, script: str, chances: Sequence[float] = ()) -> None:
        super().__init__(generator(0, "scripted"))
        self.script = script.split()
        self.chances = list(chances)

    def chance(self, probability: float) -> bool:
        return probability >= 1 or probability in self.chances

    def choose(self, options: Sequence[T]) -> T:
        for position, wanted in enumerate(self.script):
            for option in options:
                if wanted in _names(option):
                    del self.script[position]
                    return option
        return options[0]

    def weighted(self, options: Sequence[tuple[float, T]]) -> T:
        return self.choose([option for _, option in options])


def _names(option: Any) -> list[str]:
    if isinstance(option, str):
        return [option]
    if callable(option):
        return [option.__name__]
    names = [getattr(option, "zh", ""), "".join(zh for zh, *_ in getattr(option, "parts", ()))]
    english = getattr(option, "en", "")
    if isinstance(option, tuple) and isinstance(option[0], str):
        names.append(re.sub(r"[:\d ]", "", option[0]))  # a fixed phrase is written 好久:1 不:2 见:3
    return [name for name in (*names, english) if name]


def build(make: Template, script: str, chances: Sequence[float] = ()) -> tuple[str, str, set[str]]:
    """Build a sentence and return its source, its target and its links, written as `中文-word`."""
    rng = ScriptedRng(script, chances)
    source, target = make(rng)
    assert not rng.script, f"not taken: {rng.script}"
    (chinese, source_words), (english, target_words) = spell_chinese(source), spell_english(target)
    return chinese, english, {f"{source_words[i]}-{target_words[j]}" for i, j in find_links(source, target)}

"""Instructions in the demo language: one model that is told in words what to do, and without them just goes on.

Four tasks in one vocabulary. Of each sentence pair come three instructions, each a prompt of what to do and the
sentence, and its completion: the translation either way, and the head, the verb or adjective that the sentence is built
around. Beside them stand plain texts of some sentences in one language: from these the model knows how a text goes on
that asks for nothing.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from pellucid.demo.language import DemoPair
from pellucid.randomness import generator
from pellucid.storage.files import write_text

__all__ = [
    "TASKS",
    "Instruction",
    "InstructionScore",
    "head_word",
    "instructions",
    "score_instructions",
    "training_records",
    "write_instructions",
]

TASKS = ("zh→en", "en→zh", "head")

_SENTENCES = (2, 4)  # of a plain text: from, to below
_SHARE_OF_CONTINUING = 0.5  # of the given text that stands in the prompt, in characters


class Instruction(NamedTuple):
    """What is asked and what is right; `task` is one of TASKS, or "continue" without any instruction."""

    task: str
    prompt: str
    completion: str


class InstructionScore(NamedTuple):
    """How a model did at a task.

    Attributes:
        task: as in `Instruction`.
        n: how many were asked.
        right: share that were answered to the letter; of continuations, share that stay in their language and end like
            a sentence.
    """

    task: str
    n: int
    right: float


class Complete(Protocol):
    """What can go on with texts: `pellucid.load` of a language model."""

    def __call__(self, prompts: Sequence[str]) -> Sequence[str]:
        """Return the most probable continuation of each."""


def head_word(pair: DemoPair) -> str | None:
    """Return the Chinese verb or adjective that a sentence is built around; None unless there is exactly one.

    It is the governing word of the sentence's combinations: 吃 in 猫吃鱼, 红 in 红苹果.
    """
    words = set(pair.source_words)
    governing = {word for word, noun in pair.combinations if {word, noun} <= words}
    return governing.pop() if len(governing) == 1 else None


def instructions(pairs: Iterable[DemoPair]) -> Iterator[Instruction]:
    """Yield the instructions that a sentence pair gives: two or three."""
    for pair in pairs:
        yield Instruction("zh→en", f"zh→en: {pair.source}\n", pair.target)
        yield Instruction("en→zh", f"en→zh: {pair.target}\n", pair.source)
        head = head_word(pair)
        if head is not None:
            yield Instruction("head", f"head: {pair.source}\n", head)


def training_records(pairs: Sequence[DemoPair], seed: int = 1) -> list[dict[str, str]]:
    """Return what a model is trained on, shuffled: instructions, and for each pair a plain text of some sentences."""
    random = generator(seed, "demo", "instructions")
    records = [{"prompt": one.prompt, "completion": one.completion} for one in instructions(pairs)]
    for number in range(len(pairs)):
        chosen = random.integers(len(pairs), size=int(random.integers(*_SENTENCES)))
        sentences = [pairs[int(place)] for place in chosen]
        chinese = number % 2 == 0
        text = "".join(one.source for one in sentences) if chinese else " ".join(one.target for one in sentences)
        records.append({"text": text})
    return [records[int(place)] for place in random.permutation(len(records))]


def write_instructions(path: str | Path, records: Iterable[dict[str, str]]) -> None:
    """Write records as JSONL, as `pellucid train lm` reads it."""
    write_text(path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))


def score_instructions(pairs: Sequence[DemoPair], complete: Complete) -> list[InstructionScore]:
    """Return how a model does at each task on these pairs, and without an instruction.

    Args:
        pairs: unseen ones.
        go_on: gives the most probable continuation of each prompt.
    """
    asked = list(instructions(pairs))
    answers = complete([one.prompt for one in asked])
    found = []
    for task in TASKS:
        right = [answer == one.completion for one, answer in zip(asked, answers, strict=True) if one.task == task]
        found.append(InstructionScore(task, len(right), sum(right) / max(len(right), 1)))
    begun = [
        text[: max(1, round(_SHARE_OF_CONTINUING * len(text)))] for pair in pairs for text in (pair.source, pair.target)
    ]
    goes_on = [_is_going_on(start, rest) for start, rest in zip(begun, complete(begun), strict=True)]
    return [*found, InstructionScore("continue", len(begun), sum(goes_on) / max(len(begun), 1))]


def _is_going_on(start: str, rest: str) -> bool:
    """Tell whether a continuation is of the same language, and ends like a sentence of it."""
    marks = ".?!" if start.isascii() else "。？！"
    return bool(rest) and rest.isascii() == start.isascii() and rest[-1] in marks and "→" not in rest

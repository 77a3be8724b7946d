"""Instruction tuning in the demo language: one model that follows instructions, and continues text without one.

Each sentence pair yields up to three instructions, each a prompt with a task and a sentence, and its completion: the
translation in either direction, and the head, the verb or adjective that the sentence is built around. Plain texts of
a few sentences in one language are mixed in: from them the model learns to continue a text without an instruction.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

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

_SENTENCES = (2, 4)  # number of sentences of a plain text: at least, below
_PROMPT_SHARE = 0.5  # share of a text's characters that the prompt contains when the model is to continue it


class Instruction(NamedTuple):
    """A prompt and its correct completion; `task` is one of TASKS."""

    task: str
    prompt: str
    completion: str


class InstructionScore(NamedTuple):
    """A model's score on a task.

    Attributes:
        task: one of TASKS, or "continue" for plain text without an instruction.
        n: number of prompts.
        accuracy: share of completions that are exactly right; of "continue", share that stay in the language of the
            text and end like a sentence.
    """

    task: str
    n: int
    accuracy: float


def head_word(pair: DemoPair) -> str | None:
    """Find the Chinese verb or adjective that a sentence is built around; None unless there is exactly one.

    It is the word that governs the noun in the sentence's combinations: 吃 in 猫吃鱼, 红 in 红苹果.
    """
    words = set(pair.source_words)
    governing = {word for word, noun in pair.combinations if {word, noun} <= words}
    return governing.pop() if len(governing) == 1 else None


def instructions(pairs: Iterable[DemoPair]) -> Iterator[Instruction]:
    """Yield the two or three instructions of each sentence pair."""
    for pair in pairs:
        yield Instruction("zh→en", f"zh→en: {pair.source}\n", pair.target)
        yield Instruction("en→zh", f"en→zh: {pair.target}\n", pair.source)
        head = head_word(pair)
        if head is not None:
            yield Instruction("head", f"head: {pair.source}\n", head)


def training_records(pairs: Sequence[DemoPair], seed: int = 1) -> list[dict[str, str]]:
    """Build the shuffled training data: all instructions, and one plain text of a few sentences per pair."""
    random = generator(seed, "demo", "instructions")
    records = [{"prompt": one.prompt, "completion": one.completion} for one in instructions(pairs)]
    for number in range(len(pairs)):
        chosen = random.integers(len(pairs), size=int(random.integers(*_SENTENCES)))
        sentences = [pairs[int(position)] for position in chosen]
        chinese = number % 2 == 0
        text = "".join(one.source for one in sentences) if chinese else " ".join(one.target for one in sentences)
        records.append({"text": text})
    return [records[int(position)] for position in random.permutation(len(records))]


def write_instructions(path: str | Path, records: Iterable[dict[str, str]]) -> None:
    """Write records as JSON lines for `pellucid train lm`."""
    write_text(path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))


def score_instructions(
    pairs: Sequence[DemoPair], complete: Callable[[Sequence[str]], Sequence[str]]
) -> list[InstructionScore]:
    """Score a model on each task, and on continuing text without an instruction.

    Args:
        pairs: sentence pairs that the model has not been trained on.
        complete: returns the most probable completion of each prompt.
    """
    prompts = list(instructions(pairs))
    answers = complete([one.prompt for one in prompts])
    scores = []
    for task in TASKS:
        correct = [answer == one.completion for one, answer in zip(prompts, answers, strict=True) if one.task == task]
        scores.append(InstructionScore(task, len(correct), sum(correct) / max(len(correct), 1)))
    texts = [text for pair in pairs for text in (pair.source, pair.target)]
    starts = [text[: max(1, round(_PROMPT_SHARE * len(text)))] for text in texts]
    fluent = [_continues(start, rest) for start, rest in zip(starts, complete(starts), strict=True)]
    return [*scores, InstructionScore("continue", len(starts), sum(fluent) / max(len(starts), 1))]


def _continues(start: str, rest: str) -> bool:
    """Check whether a continuation stays in the language of its text and ends like a sentence."""
    marks = ".?!" if start.isascii() else "。？！"
    return bool(rest) and rest.isascii() == start.isascii() and rest[-1] in marks and "→" not in rest

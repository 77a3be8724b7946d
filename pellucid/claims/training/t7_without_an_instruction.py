"""T7: without an instruction a language model just continues."""

from functools import partial

from pellucid.claims.claim import Effort, Setup, at_least, claim
from pellucid.claims.demo_language_model import continue_prompts, demo_language_model
from pellucid.claims.evidence import Evidence, Figure, share_over_seeds
from pellucid.demo.instructions import score_instructions

__all__ = ["CLAIM", "measure"]

_SHORT = 4  # characters of a head word, at most


def measure(setup: Setup, instruction: str = "zh→en: {}\n") -> Evidence:
    """Prompt with the same Chinese sentences, with two instructions and without one.

    Args:
        instruction: to translate.
    """
    found: dict[str, list[float]] = {
        "translate: English": [],
        "name the head: short": [],
        "no instruction: Chinese": [],
    }
    records: list[dict[str, object]] = []
    exact_matches: dict[str, list[float]] = {}
    for seed in setup.every_seed():
        instructed = demo_language_model(setup.steps, seed)
        pairs = instructed.data.test[: setup.size]
        translated = continue_prompts(instructed.model, [instruction.format(pair.source) for pair in pairs])
        heads = continue_prompts(instructed.model, [f"head: {pair.source}\n" for pair in pairs])
        plain = continue_prompts(
            instructed.model, [pair.source[: max(1, len(pair.source) // 2)] for pair in pairs], tokens=15
        )
        shares = (
            sum(bool(text) and text.isascii() for text in translated) / len(pairs),
            sum(0 < len(text) <= _SHORT and not text.isascii() for text in heads) / len(pairs),
            sum(bool(text) and not any("a" <= letter <= "z" for letter in text) for text in plain) / len(pairs),
        )
        for (way, values), share in zip(found.items(), shares, strict=True):
            values.append(share)
            records.append({"instruction": way, "seed": str(seed), "share": share})
        for each in score_instructions(pairs[:20], partial(continue_prompts, instructed.model)):
            exact_matches.setdefault(each.task, []).append(each.accuracy)
    names = ("english_when_told_to_translate", "short_when_told_to_name_the_head", "chinese_when_told_nothing")
    tasks = {"zh→en": "zh_en", "en→zh": "en_zh", "head": "head", "continue": "continue"}
    numbers = {
        **{name: share_over_seeds(values) for name, values in zip(names, found.values(), strict=True)},
        **{f"exact_match_{tasks[task]}": share_over_seeds(values) for task, values in exact_matches.items()},
    }
    return Evidence(numbers, records, Figure("bar", "instruction", "share", "seed"))


CLAIM = claim(
    measure,
    at_least("english_when_told_to_translate", 0.8, fails_at=0.5),
    at_least("short_when_told_to_name_the_head", 0.8, fails_at=0.5),
    at_least("chinese_when_told_nothing", 0.8, fails_at=0.5),
    effort=Effort(Setup(seeds=3, steps=40, size=15), Setup(seeds=4, steps=2_400, size=100)),
)

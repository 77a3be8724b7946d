"""Instructions in the demo language: prompts, completions and scores."""

import json
from collections.abc import Sequence
from pathlib import Path

from pellucid.demo.instructions import (
    head_word,
    instructions,
    score_instructions,
    training_records,
    write_instructions,
)
from pellucid.demo.language import generate

PAIRS = generate(300)


def test_every_pair_yields_both_directions_and_its_head_if_it_has_one() -> None:
    for pair in PAIRS:
        asked = {one.task: one for one in instructions([pair])}
        assert asked["zh→en"].completion == pair.target
        assert asked["en→zh"].completion == pair.source
        assert ("head" in asked) == (head_word(pair) is not None)
        if "head" in asked:
            assert asked["head"].completion in pair.source_words


def test_many_sentences_have_one_head() -> None:
    assert sum(head_word(pair) is not None for pair in PAIRS) > len(PAIRS) / 4


def test_records_are_instructions_and_as_many_plain_texts_as_pairs(tmp_path: Path) -> None:
    records = training_records(PAIRS)
    plain = [record["text"] for record in records if "text" in record]
    assert len(plain) == len(PAIRS)
    assert len(records) - len(plain) == sum(1 for _ in instructions(PAIRS))
    assert all("→" not in text for text in plain)
    assert training_records(PAIRS) == records
    assert training_records(PAIRS, seed=2) != records
    write_instructions(tmp_path / "a.jsonl", records)
    lines = (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == records


def test_the_score_counts_exact_completions() -> None:
    right = {one.prompt: one.completion for one in instructions(PAIRS)}
    whole = {text[: max(1, round(len(text) / 2))]: text for pair in PAIRS for text in (pair.source, pair.target)}

    def knows_all(prompts: Sequence[str]) -> list[str]:
        return [right[prompt] if prompt in right else whole[prompt][len(prompt) :] for prompt in prompts]

    def translates_always(prompts: Sequence[str]) -> list[str]:
        return ["a cat." if not prompt.isascii() else "猫。" for prompt in prompts]

    perfect = score_instructions(PAIRS, knows_all)
    assert [one.task for one in perfect] == ["zh→en", "en→zh", "head", "continue"]
    assert all(one.accuracy == 1.0 for one in perfect)
    assert [one.accuracy for one in score_instructions(PAIRS, translates_always)] == [0.0, 0.0, 0.0, 0.0]

"""N8, translating: a line of 10,000 characters is split, rejoined, and nothing is lost."""

import pytest

from pellucid.generation.text_splitting import TextSplitter
from pellucid.translator import Translator
from tests.generation.small_translator import small_translator

LONG_LINES = {
    "sentences": "The cat ate 12 fish. " * 480,
    "chinese": "那只猫昨天吃了三条鱼。" * 900,
    "commas": "the cat ate fish, and then " * 370,
    "no-space": "x" * 10_000,
    "chinese-no-mark": "猫" * 10_000,
    "emoji": "\U0001f600" * 2_500,
}


@pytest.fixture(scope="module", params=["rope", "learned", "sinusoidal"])
def translator(request: pytest.FixtureRequest) -> Translator:
    return small_translator(positions=request.param, learned_positions=64)


@pytest.mark.parametrize("name", LONG_LINES)
def test_all_of_a_long_line_goes_through_the_model_in_parts_it_can_read(translator: Translator, name: str) -> None:
    line = LONG_LINES[name]
    plan = TextSplitter(translator.source_tokenizer, 63, True, 0).split(line)
    assert "".join("".join(stretches) for stretches in plan.lines) == line
    assert max(len(part.ids) for part in plan.parts) <= 64
    read = "".join(translator.source_tokenizer.decode(part.ids) for part in plan.parts)
    assert "".join(read.split()) == "".join(line.split())


def test_a_long_line_is_translated_to_one_line(translator: Translator) -> None:
    line = LONG_LINES["sentences"][:1_050]
    parts = len(TextSplitter(translator.source_tokenizer, 63, True, 0).split(line).parts)
    found = translator.translate([line, "Hund"], max_length_extra=3)
    assert parts == 50
    assert found[0].text.count("\n") == 0
    assert found[0].n_best[0].tokens >= parts
    assert found[1].text == translator.translate("Hund", max_length_extra=3).text

"""L3: a batch of prompts of unequal lengths. Elsewhere the short ones change; here each is what it is alone."""

from typing import Any, get_args

import pytest

from pellucid.layers.position_scheme import PositionScheme
from tests.generation.small_language_model import imported_language_model, small_language_model

PROMPTS = ["猫", "The cat ate three fish yesterday.", "", "Hund", "12 Katzen! Der Hund", "</s>"]
POSITIONS = get_args(PositionScheme)


@pytest.mark.parametrize("settings", [{"temperature": 0}, {"temperature": 1.0, "samples": 2}, {"stop": ["a", "e"]}])
@pytest.mark.parametrize("positions", POSITIONS)
def test_each_is_continued_as_if_it_were_alone(positions: str, settings: dict[str, Any]) -> None:
    model = small_language_model(positions=positions)
    together = model.generate(PROMPTS, **settings)
    assert [one.prompt for one in together] == PROMPTS
    for prompt, found in zip(PROMPTS, together, strict=True):
        alone = model.generate(prompt, **settings)
        assert [sample.text for sample in found.samples] == [sample.text for sample in alone.samples]
        for one, other in zip(found.samples, alone.samples, strict=True):
            assert (one.finish_reason, one.stop) == (other.finish_reason, other.stop)
            assert one.log_prob == pytest.approx(other.log_prob, abs=1e-3)  # sums of float32 in another order


def test_where_every_id_is_a_token_padding_is_none_of_them() -> None:
    model = imported_language_model()
    assert model.model.pad_id not in range(model.tokenizer.vocab_size)
    together = model.generate(PROMPTS)
    assert [one.text for one in together] == [model.generate(prompt).text for prompt in PROMPTS]


def test_prompts_of_unequal_lengths_that_slide_are_what_they_are_alone() -> None:
    model = small_language_model(max_positions=8)
    settings: dict[str, Any] = {"tokens": 20, "sliding": True}
    together = model.generate(PROMPTS, **settings)
    assert [one.text for one in together] == [model.generate(prompt, **settings).text for prompt in PROMPTS]

"""L6: temperature 0, top_k above the vocabulary, top_p 1. Elsewhere: an error; an error; always greedy."""

from typing import Any

import pytest

from tests.generation.small_language_model import small_language_model


@pytest.mark.parametrize("settings", [{"temperature": 0}, {"temperature": 0.0, "top_p": 0.5}, {"temperature": 1e-9}])
def test_temperature_0_is_greedy_and_so_is_its_limit(settings: dict[str, Any]) -> None:
    model = small_language_model()
    greedy = model.generate("The cat", top_k=1, temperature=1.0)
    found = [model.generate("The cat", seed=seed, **settings) for seed in (1, 2)]
    assert [one.text for one in found] == [greedy.text] * 2
    assert [token.sampling_log_prob for token in found[0].tokens] == [0.0] * len(greedy.tokens)


@pytest.mark.parametrize("off", [{"top_k": 10**9}, {"top_k": 340}, {"top_p": 1.0}, {"top_p": 1}, {"min_p": 0.0}])
def test_a_cut_that_cuts_nothing_changes_nothing(off: dict[str, Any]) -> None:
    model = small_language_model()
    plain = model.generate("The cat", temperature=1.0)
    assert model.generate("The cat", temperature=1.0, **off) == plain
    assert plain.text != model.generate("The cat", temperature=0).text

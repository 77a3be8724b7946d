import pytest
import torch

from pellucid.evaluation.scoring import score_pairs
from pellucid.generation.translate import Translator
from tests.generation.small_translator import small_translator

PAIRS = [("那只猫", "The cat"), ("", ""), ("Hund", ""), ("The {a} cat.", "Der {a} Hund."), ("Hund", "dog " * 20)]


@pytest.fixture(scope="module", params=[True, False])
def translator(request: pytest.FixtureRequest) -> Translator:
    return small_translator(copies_placeholders=request.param)


def test_a_score_is_the_log_probability_of_every_token_and_the_end(translator: Translator) -> None:
    tokenizer = translator.target_tokenizer
    [found] = score_pairs(translator, [("那只猫", "The cat")])
    source = torch.tensor([[*tokenizer.encode("那只猫"), tokenizer.end_id]])
    target = [*tokenizer.encode("The cat"), tokenizer.end_id]
    log_probs = torch.log_softmax(translator.model(source, torch.tensor([[tokenizer.start_id, *target[:-1]]]))[0], -1)
    expected = log_probs.gather(1, torch.tensor(target)[:, None])[:, 0].tolist()
    assert [token.log_prob for token in found.tokens] == pytest.approx(expected, abs=1e-5)
    assert [token.id for token in found.tokens] == target
    assert found.total == pytest.approx(sum(expected), abs=1e-4)
    assert "".join(token.text for token in found.tokens) == "▁The▁cat⟨end⟩"


@pytest.mark.parametrize("batch_tokens", [1, 20, 4096])
def test_neighbours_change_no_score_and_order_is_kept(translator: Translator, batch_tokens: int) -> None:
    together = score_pairs(translator, PAIRS, batch_tokens)
    for pair, found in zip(PAIRS, together, strict=True):
        assert found.total == pytest.approx(score_pairs(translator, [pair])[0].total, abs=1e-4)


def test_placeholders_are_scored_as_in_training() -> None:
    [found] = score_pairs(small_translator(copies_placeholders=True), [("The {a} cat.", "Der {a} Hund.")])
    assert "⟨placeholder 0⟩" in [token.text for token in found.tokens]
    [text] = score_pairs(small_translator(copies_placeholders=True), [("The {a} cat.", "Der Hund.")])
    assert "⟨placeholder 0⟩" not in [token.text for token in text.tokens]
    assert score_pairs(small_translator(), []) == []

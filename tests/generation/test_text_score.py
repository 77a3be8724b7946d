import pytest
import torch

from pellucid.errors import UserError
from pellucid.generation import text_score
from pellucid.language_model import LanguageModel
from tests.generation.small_language_model import small_language_model

TEXTS = ["The cat ate three fish.", "猫", "", " two  spaces ", "Seán 水🤗", "</s><start>"]


@pytest.fixture
def model() -> LanguageModel:
    return small_language_model()


@pytest.mark.parametrize("given", ["", "Der Hund", "x "])
@pytest.mark.parametrize("text", TEXTS)
def test_the_parts_are_those_of_the_text_and_sum_to_the_score(model: LanguageModel, text: str, given: str) -> None:
    found = model.score(text, given)
    written = b"".join(model.tokenizer.id_to_bytes(token.id) for token in found.tokens)
    assert written in (text.encode(), b" " + text.encode())
    assert found.total == pytest.approx(sum(token.log_prob for token in found.tokens))
    assert all(token.log_prob < 0 for token in found.tokens)


def test_a_score_is_that_of_one_pass_over_the_text(model: LanguageModel) -> None:
    ids = model.prompt_ids("The cat ate")
    with torch.inference_mode():
        said = model.model(torch.tensor([ids])).log_softmax(-1)[0]
    expected = [float(said[i, ids[i + 1]]) for i in range(len(ids) - 1)]
    assert [token.log_prob for token in model.score("The cat ate").tokens] == pytest.approx(expected, abs=1e-4)


def test_scores_of_two_parts_sum_to_that_of_the_whole_where_no_token_reaches_across(model: LanguageModel) -> None:
    whole = model.score("The cat ate").total
    assert model.score("The cat").total + model.score(" ate", "The cat").total == pytest.approx(whole, abs=1e-3)


def test_where_a_token_would_reach_across_each_part_is_encoded_by_itself(model: LanguageModel) -> None:
    tokenizer = model.tokenizer
    assert b" yes" in [piece.bytes for piece in tokenizer.pieces("The yes")]
    found = model.score("es", "The y")
    assert [token.id for token in found.tokens] == tokenizer.encode_continuation("es")


def test_a_long_text_is_read_through_windows_and_nothing_is_cut(model: LanguageModel) -> None:
    text = "The cat ate three fish yesterday. " * 8
    coarse, fine = model.score(text), model.score(text, stride=1)
    assert len(coarse.tokens) == len(fine.tokens) == len(model.tokenizer.encode(text)) > 2 * model.context
    context = model.context
    assert [a.log_prob for a in coarse.tokens[:context]] == pytest.approx(
        [b.log_prob for b in fine.tokens[:context]], abs=1e-4
    )
    ids = model.prompt_ids(text)
    with torch.inference_mode():
        seen = torch.tensor([ids[-context - 1 : -1]])
        last = float(model.model(seen).log_softmax(-1)[0, -1, ids[-1]])
    assert fine.tokens[-1].log_prob == pytest.approx(last, abs=1e-4)


def test_batches_and_parts_change_nothing(model: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "The cat ate three fish yesterday. " * 8
    before = model.score(text)
    monkeypatch.setattr(text_score, "BATCH_TOKENS", 1)
    monkeypatch.setattr(text_score, "LOGITS_AT_ONCE", 1)
    monkeypatch.setattr("pellucid.generation.decoder.PREFILL_CHUNK", 3)
    after = model.score(text)
    assert [a.log_prob for a in after.tokens] == pytest.approx([b.log_prob for b in before.tokens], abs=1e-4)


@pytest.mark.parametrize("stride", [0, 33, 100])
def test_a_stride_that_leaves_tokens_without_context_is_refused(model: LanguageModel, stride: int) -> None:
    with pytest.raises(UserError, match=r"stride"):
        model.score("The cat", stride=stride)

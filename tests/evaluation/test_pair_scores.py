import pytest
import torch

from pellucid.corpus.pairs import Location
from pellucid.errors import UserError
from pellucid.evaluation import pair_scores
from pellucid.evaluation.pair_scores import score_pairs
from pellucid.models.encoder_decoder import Memory
from pellucid.translator import Translator
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


LONG = " ".join(["Hund"] * 40)  # 81 tokens with the end; "Hund" is 3


def test_a_pair_too_long_for_the_memory_is_refused_by_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_scores, "free_bytes", lambda device: 40_000.0)
    monkeypatch.setattr(pair_scores, "BATCH_BYTES", 1000)
    locations = [(Location("a.zh", n), Location("a.de", n)) for n in (1, 2)]
    with pytest.raises(UserError, match="a pair of 3 and 81 tokens is too long") as caught:
        score_pairs(small_translator(), [("Hund", "dog"), ("Hund", LONG)], locations=locations)
    assert caught.value.where == ("a.de:2",)
    with pytest.raises(UserError) as caught:
        score_pairs(small_translator(), [(LONG, "Hund")])
    assert caught.value.where == ("pair 1 of 1",)


def test_long_pairs_are_scored_one_at_a_time_and_short_ones_together(monkeypatch: pytest.MonkeyPatch) -> None:
    translator = small_translator()
    pairs = [("Hund", "Hund"), (LONG, "Hund"), ("Hund", "Hund"), ("Hund", LONG), ("Hund", "Hund")]
    expected = [score_pairs(translator, [pair])[0].total for pair in pairs]
    monkeypatch.setattr(pair_scores, "BATCH_BYTES", 1000)
    monkeypatch.setattr(pair_scores, "ROWS", 3)
    shapes: list[tuple[int, ...]] = []
    encode = translator.model.encode

    def noted(ids: torch.Tensor) -> Memory:
        shapes.append(tuple(ids.shape))
        return encode(ids)

    monkeypatch.setattr(translator.model, "encode", noted)
    assert [found.total for found in score_pairs(translator, pairs)] == pytest.approx(expected, abs=1e-4)
    assert shapes == [(1, 81), (1, 3), (3, 3)]


def test_what_a_device_has_no_memory_for_is_said_by_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(ids: torch.Tensor) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    translator = small_translator()
    monkeypatch.setattr(translator.model, "encode", full)
    with pytest.raises(UserError, match="does not fit into the memory of the GPU") as caught:
        score_pairs(translator, [("Hund", "Hund")], locations=[(Location("a.zh", 7), Location("a.de", 7))])
    assert caught.value.where == ("a.zh:7",)


def test_a_pair_longer_than_learned_positions_is_refused_by_its_place() -> None:
    translator = small_translator(positions="learned", learned_positions=8)
    locations = [(Location("a.tsv", n), Location("a.tsv", n)) for n in (1, 2)]
    with pytest.raises(UserError, match="has learned 8 positions") as caught:
        score_pairs(translator, [("Hund", "Hund"), ("Hund", " ".join(["Hund"] * 8))], locations=locations)
    assert caught.value.where == ("a.tsv:2",)

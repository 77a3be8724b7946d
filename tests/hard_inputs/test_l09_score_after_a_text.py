"""L9: the score of `de` after `abc`, with room for 3 tokens. Elsewhere `cde` is scored."""

import pytest
import torch

from pellucid.generation.sampling_config import SamplingConfig
from pellucid.language_model import LanguageModel
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.decoder_only_config import DecoderOnlyConfig
from pellucid.tokenizers import TokenizerConfig, train_tokenizer


@pytest.fixture
def model() -> LanguageModel:
    """Return a model of single letters that reads three tokens at once."""
    tokenizer = train_tokenizer(["abcde"], TokenizerConfig(kind="characters"))
    torch.manual_seed(1)
    config = DecoderOnlyConfig(d_model=16, n_heads=2, d_ff=16, n_layers=1, max_positions=3)
    return LanguageModel(DecoderOnly(config, tokenizer.vocab_size, tokenizer.pad_id), tokenizer, SamplingConfig())


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_what_is_given_is_not_scored_and_what_is_scored_is_all_scored(model: LanguageModel, stride: int) -> None:
    found = model.score("de", given="abc", stride=stride)
    assert [token.text for token in found.tokens] == ["d", "e"]
    a, b, c, d, e = (
        number for number in model.tokenizer.encode("abcde") if model.tokenizer.id_to_bytes(number) != b" "
    )
    with torch.inference_mode():
        sees_d, sees_e = ([a, b, c], [b, c, d]) if stride == 1 else ([b, c], [b, c, d])
        expected = [
            float(model.model(torch.tensor([seen])).log_softmax(-1)[0, -1, wanted])
            for seen, wanted in ((sees_d, d), (sees_e, e))
        ]
    assert [token.log_prob for token in found.tokens] == pytest.approx(expected, abs=1e-5)
    assert found.total == pytest.approx(sum(expected), abs=1e-5)


def test_a_given_text_much_longer_than_the_context_changes_only_what_is_seen(model: LanguageModel) -> None:
    found = model.score("de", given="abc" * 50)
    assert [token.text for token in found.tokens] == ["d", "e"]
    assert found == model.score("de", given="bc" + "abc" * 30)

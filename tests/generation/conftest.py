"""A random translator that is small enough to run in no time, with a real tokenizer."""

import pytest
import torch

from pellucid.generation.config import GenerationConfig
from pellucid.generation.translate import Translator
from pellucid.models.config import EncoderDecoderConfig
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.tokenizers import Tokenizer, TokenizerConfig, train_tokenizer

TEXTS = ["那只猫昨天吃了三条鱼。", "The cat ate three fish yesterday.", "Der Hund schläft. 12 Katzen!"] * 5


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    return train_tokenizer(TEXTS, TokenizerConfig(vocab_size=340))


@pytest.fixture(scope="session")
def model(tokenizer: Tokenizer) -> EncoderDecoder:
    torch.manual_seed(1)
    shape = EncoderDecoderConfig(d_model=16, n_heads=2, d_ff=16, encoder_layers=1, decoder_layers=1)
    model = EncoderDecoder(shape, tokenizer.vocab_size, tokenizer.vocab_size, tokenizer.pad_id)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=2 * weight.shape[-1] ** -0.5)
    return model


@pytest.fixture
def translator(model: EncoderDecoder, tokenizer: Tokenizer) -> Translator:
    config = GenerationConfig(beam=2, max_length_ratio=0, max_length_extra=5)
    return Translator(model, tokenizer, tokenizer, config)

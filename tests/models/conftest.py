"""Small models with random weights everywhere, so that no zero bias or unit scale hides a fault."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig

Build = Callable[..., EncoderDecoder]

SIZES: dict[str, Any] = {"d_model": 16, "n_heads": 4, "d_ff": 24, "encoder_layers": 2, "decoder_layers": 2}


@pytest.fixture(scope="session")
def build() -> Build:
    """`build(**choices)` returns a model in evaluation mode with 13 tokens on each side, padding being 0."""

    def built(vocab_size: int = 13, seed: int = 1, **choices: Any) -> EncoderDecoder:
        model = EncoderDecoder(EncoderDecoderConfig(**{**SIZES, **choices}), vocab_size, vocab_size, pad_id=0).eval()
        random = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.normal_(std=0.3, generator=random)
        return model

    return built

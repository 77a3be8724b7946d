from typing import Any

import pytest

from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig
from pellucid.models.parameter_count import count_parameters

from .conftest import Build


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"tie_embeddings": "output", "bias": False, "norm": "rmsnorm"},
        {"tie_embeddings": "none", "activation": "swiglu", "n_kv_heads": 2, "norm_placement": "post"},
        {"positions": "learned", "learned_positions": 50, "encoder_layers": 3, "activation": "gelu"},
        {"n_kv_heads": 1, "activation": "swiglu", "bias": False, "decoder_layers": 3},
    ],
)
def test_parameters_are_counted_as_the_model_has_them(build: Build, choices: dict[str, Any]) -> None:
    model = build(vocab_size=19, **choices)
    assert count_parameters(model.config, 19, 19) == sum(weight.numel() for weight in model.parameters())


def test_different_vocabularies_are_counted_each() -> None:
    config = EncoderDecoderConfig(d_model=8, n_heads=2, d_ff=8, tie_embeddings="none")
    model = EncoderDecoder(config, 5, 7, pad_id=0)
    assert count_parameters(config, 5, 7) == sum(weight.numel() for weight in model.parameters())

"""Presets: their shapes, and how many parameters follow from these, by hand."""

import tomllib
from importlib import resources
from typing import Any

import pytest
import torch

from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig
from pellucid.models.initialise_config import InitialiseConfig


def preset(name: str) -> dict[str, Any]:
    text = (
        resources.files("pellucid.training")
        .joinpath("recipes", "translator", f"{name}.toml")
        .read_text(encoding="utf-8")
    )
    return tomllib.loads(text)


def pluralize(config: EncoderDecoderConfig, vocab_size: int) -> int:
    """Build the model without memory for its weights, and count these."""
    with torch.device("meta"):
        model = EncoderDecoder(config, vocab_size, vocab_size, pad_id=0)
    return sum(parameter.numel() for parameter in model.parameters())


PARAMETERS = {
    "tiny": (1_000, 297_728),
    "small": (8_000, 7_578_624),
    "base": (37_000, 63_082_496),
    "big": (37_000, 214_245_376),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_presets_have_as_many_parameters_as_the_formula(name: str) -> None:
    """Count, for width d, hidden width f, E + D layers and one matrix of V rows for source, target and output.

    attention    A = 4 (d² + d)              W_Q, W_K, W_V, W_O with biases
    feed-forward F = 2 d f + f + d           W₁, W₂ with biases
    norm         N = 2 d                     scale and shift
    encoder      E (A + F + 2 N)
    decoder      D (2 A + F + 3 N)
    pre-norm     2 N                         one at the end of each stack
    embedding    V d

    tiny,  d 64, f 256, pre, V 1,000:        A 16,640 · F 33,088 · N 128
        2 · 49,984 + 2 · 66,752 + 256 + 64,000                             = 297,728
    small, d 256, f 1,024, pre, V 8,000:     A 263,168 · F 525,568 · N 512
        3 · 789,760 + 3 · 1,053,440 + 1,024 + 2,048,000                    = 7,578,624
    base,  d 512, f 2,048, post, V 37,000:   A 1,050,624 · F 2,099,712 · N 1,024
        6 · 3,152,384 + 6 · 4,204,032 + 18,944,000                         = 63,082,496
    big,   d 1,024, f 4,096, post, V 37,000: A 4,198,400 · F 8,393,728 · N 2,048
        6 · 12,596,224 + 6 · 16,796,672 + 37,888,000                       = 214,245,376
    The paper has 65 and 213 million, for a vocabulary of about 37,000.
    """
    vocab_size, expected = PARAMETERS[name]
    assert pluralize(EncoderDecoderConfig(**preset(name)["model"]), vocab_size) == expected


def test_fast_has_as_many_parameters_as_its_shape_says() -> None:
    """The same formula, with F = 3 d f + 2 f + d for SwiGLU; its sizes follow what is measured, so none stands here."""
    config = EncoderDecoderConfig(**preset("fast")["model"])
    d, f = config.d_model, config.d_ff
    attention, norm = 4 * (d * d + d), 2 * d
    feed_forward = 3 * d * f + 2 * f + d if config.activation == "swiglu" else 2 * d * f + f + d
    encoder = config.encoder_layers * (attention + feed_forward + 2 * norm)
    decoder = config.decoder_layers * (2 * attention + feed_forward + 3 * norm)
    assert pluralize(config, 4_000) == encoder + decoder + 2 * norm + 4_000 * d


def test_swiglu_grouped_heads_and_no_biases_are_counted_by_hand() -> None:
    """One encoder and one decoder layer, d 8, f 12, 4 query heads on 2 kv heads, no biases, RMSNorm, three matrices.

    A = 8·8 + 2·(8·4) + 8·8 = 192 · F = 3·8·12 = 288 · N = 8
    (A + F + 2 N) + (2 A + F + 3 N) + 2 N + (5 + 7 + 7)·8 = 496 + 696 + 16 + 152 = 1,360
    """
    config = EncoderDecoderConfig(
        d_model=8, n_heads=4, n_kv_heads=2, d_ff=12, encoder_layers=1, decoder_layers=1, activation="swiglu",
        norm="rmsnorm", bias=False, tie_embeddings="none",
    )  # fmt: skip
    model = EncoderDecoder(config, 5, 7, pad_id=0)
    assert sum(parameter.numel() for parameter in model.parameters()) == 1_360


@pytest.mark.parametrize(("name", "row"), [("base", (6, 512, 2048, 8, 0.1)), ("big", (6, 1024, 4096, 16, 0.3))])
def test_base_and_big_are_the_papers(name: str, row: tuple[int, int, int, int, float]) -> None:
    """Vaswani et al. 2017, table 3: N, d_model, d_ff, h, P_drop; §3: post-norm, ReLU, sinusoids, scaled tied rows."""
    config = EncoderDecoderConfig(**preset(name)["model"])
    assert (config.encoder_layers, config.d_model, config.d_ff, config.n_heads, config.dropout) == row
    assert config.decoder_layers == config.encoder_layers
    assert (config.norm, config.norm_placement, config.activation) == ("layernorm", "post", "relu")
    assert (config.positions, config.cross_positions) == ("sinusoidal", "none")
    assert (config.tie_embeddings, config.scale_embeddings, config.bias) == ("all", True, True)
    start = InitialiseConfig(**preset(name)["initialise"])
    assert (start.residual_scale, start.from_lexicon, start.identity_cross_attention) == (1.0, False, False)


def test_tiny_is_pre_norm_with_sinusoids() -> None:
    config = EncoderDecoderConfig(**preset("tiny")["model"])
    assert (config.norm_placement, config.positions, config.cross_positions) == ("pre", "sinusoidal", "none")


@pytest.mark.parametrize("name", ["fast", *PARAMETERS])
def test_presets_name_only_settings_that_exist(name: str) -> None:
    sections = preset(name)
    EncoderDecoderConfig.model_validate(sections["model"])
    InitialiseConfig.model_validate(sections["initialise"])

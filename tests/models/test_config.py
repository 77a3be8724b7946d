"""The model's configuration: what does not fit is refused, with what would."""

import pytest
from pydantic import ValidationError

from pellucid.models.encoder_decoder_config import EncoderDecoderConfig


@pytest.mark.parametrize(
    ("choices", "what", "mend"),
    [
        ({"d_model": 30}, "d_model 30 is not a multiple of n_heads 4", "n_heads to one of 1, 2, 3, 5, 6"),
        ({"n_kv_heads": 3}, "n_heads 4 is not a multiple of n_kv_heads 3", "n_kv_heads to one of 1, 2, 4"),
        ({"d_model": 12}, "rotary positions need heads of even width, got 3", "other than rope"),
        (
            {"d_model": 15, "n_heads": 5, "positions": "sinusoidal", "cross_positions": "none"},
            "sinusoidal positions need an even d_model, got 15",
            "add or subtract 1",
        ),
    ],
)
def test_sizes_that_do_not_fit_are_refused_with_sizes_that_do(choices: dict[str, object], what: str, mend: str) -> None:
    with pytest.raises(ValidationError) as caught:
        EncoderDecoderConfig.model_validate(choices)
    (error,) = caught.value.errors()
    assert what in error["msg"]
    assert mend in error["msg"]


@pytest.mark.parametrize(
    "choices",
    [
        {"d_modell": 256},
        {"positions": "rotary"},
        {"d_model": 0},
        {"encoder_layers": 0},
        {"dropout": 1.0},
        {"dropout": -0.1},
        {"rope_base": 1.0},
        {"tie_embeddings": True},
    ],
    ids=str,
)
def test_unknown_names_and_values_out_of_range_are_refused(choices: dict[str, object]) -> None:
    with pytest.raises(ValidationError) as caught:
        EncoderDecoderConfig.model_validate(choices)
    (error,) = caught.value.errors()
    assert error["loc"] == tuple(choices)


def test_a_config_cannot_be_changed_and_survives_json() -> None:
    config = EncoderDecoderConfig(n_kv_heads=2, positions="alibi")
    with pytest.raises(ValidationError, match="frozen"):
        config.d_model = 3  # type: ignore[misc]
    assert EncoderDecoderConfig.model_validate_json(config.model_dump_json()) == config


def test_every_field_says_what_it_is() -> None:
    assert [name for name, field in EncoderDecoderConfig.model_fields.items() if not field.description] == []


def test_sizes_of_heads_are_filled_in() -> None:
    assert EncoderDecoderConfig(d_model=64, n_heads=4).kv_heads == 4
    assert EncoderDecoderConfig(d_model=64, n_heads=4, n_kv_heads=1).kv_heads == 1
    assert EncoderDecoderConfig(d_model=64, n_heads=4).d_head == 16

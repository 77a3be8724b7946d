"""Small translators of random weights, one for each choice that changes what a look shows."""

from typing import Any, get_args

import pytest

from pellucid.inspection.look import Look
from pellucid.layers.position_scheme import PositionScheme
from pellucid.translator import Translator
from tests.generation.small_translator import small_translator

TEXT = "Der Hund schläft. 水"
TARGET = "The cat ate 3."

CHOICES: dict[str, dict[str, Any]] = {
    "rope": {},
    "sinusoidal": {"positions": "sinusoidal", "cross_positions": "none"},
    "post-norm": {"positions": "sinusoidal", "cross_positions": "none", "norm_placement": "post"},
    "learned, grouped, rmsnorm": {"positions": "learned", "n_kv_heads": 2, "norm": "rmsnorm", "activation": "swiglu"},
    "post-norm, rmsnorm, no bias": {
        "positions": "learned", "norm": "rmsnorm", "norm_placement": "post", "bias": False,
    },
    "alibi": {"positions": "alibi", "cross_positions": "none", "tie_embeddings": "none", "activation": "gelu"},
    "none": {"positions": "none", "cross_positions": "none", "bias": False},
}  # fmt: skip
for scheme in get_args(PositionScheme):
    CHOICES.setdefault(scheme, {"positions": scheme, "cross_positions": "none"})
SIZES: dict[str, Any] = {"d_model": 16, "n_heads": 4, "d_ff": 24, "encoder_layers": 2, "decoder_layers": 2}


def translator_of(choice: str) -> Translator:
    return small_translator(**{**SIZES, **CHOICES[choice]})


@pytest.fixture(params=list(CHOICES))
def any_translator(request: pytest.FixtureRequest) -> Translator:
    return translator_of(request.param)


@pytest.fixture
def any_look(any_translator: Translator) -> Look:
    return any_translator.look(TEXT, target=TARGET)


@pytest.fixture
def translator() -> Translator:
    return translator_of("sinusoidal")


@pytest.fixture
def look(translator: Translator) -> Look:
    return translator.look(TEXT, target=TARGET)

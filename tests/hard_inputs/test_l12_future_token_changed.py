"""L12: a future token is changed; elsewhere past logits change with it. Here not by a single bit."""

from typing import get_args

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.layers.position_scheme import PositionScheme
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.decoder_only_config import DecoderOnlyConfig
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig

LENGTH, VOCAB_SIZE = 7, 11
POSITIONS = get_args(PositionScheme)
tokens = st.lists(st.integers(0, VOCAB_SIZE - 1), min_size=LENGTH, max_size=LENGTH)


def translator(positions: str, placement: str) -> EncoderDecoder:
    torch.manual_seed(1)
    config = EncoderDecoderConfig.model_validate(
        {"d_model": 16, "d_ff": 32, "positions": positions, "norm_placement": placement, "n_kv_heads": 2}
    )
    return EncoderDecoder(config, VOCAB_SIZE, VOCAB_SIZE, pad_id=0).eval()


MODELS = {(p, n): translator(p, n) for p in POSITIONS for n in ("pre", "post")}


@settings(max_examples=40)
@given(st.sampled_from(sorted(MODELS)), tokens, tokens, st.integers(1, LENGTH - 1))
def test_logits_before_the_change_stay_bit_for_bit(
    which: tuple[str, str], target: list[int], other: list[int], past: int
) -> None:
    """The changed tail may hold padding too: nobody before it looks at it."""
    model = MODELS[which]
    changed = target[:past] + other[past:]
    source = torch.tensor([[3, 4, 5, 0]])
    with torch.inference_mode():
        one, two = model(source, torch.tensor([target])), model(source, torch.tensor([changed]))
    assert torch.equal(one[:, :past], two[:, :past])


@pytest.mark.parametrize("which", MODELS, ids="-".join)
@torch.inference_mode()
def test_logits_after_the_change_do_change(which: tuple[str, str]) -> None:
    source, target = torch.tensor([[3, 4]]), torch.tensor([[1, 2, 3, 4]])
    one, two = MODELS[which](source, target), MODELS[which](source, torch.tensor([[1, 2, 7, 4]]))
    assert not torch.allclose(one[:, 2], two[:, 2])
    assert not torch.allclose(one[:, 3], two[:, 3])


def language_model(positions: str, placement: str) -> DecoderOnly:
    torch.manual_seed(1)
    config = DecoderOnlyConfig.model_validate(
        {"d_model": 16, "d_ff": 32, "positions": positions, "norm_placement": placement, "n_kv_heads": 2}
    )
    return DecoderOnly(config, VOCAB_SIZE, pad_id=0).eval()


LANGUAGE_MODELS = {(p, n): language_model(p, n) for p in POSITIONS for n in ("pre", "post")}


@settings(max_examples=40)
@given(st.sampled_from(sorted(LANGUAGE_MODELS)), tokens, tokens, st.integers(1, LENGTH - 1))
def test_a_language_model_keeps_them_bit_for_bit_too(
    which: tuple[str, str], text: list[int], other: list[int], past: int
) -> None:
    model = LANGUAGE_MODELS[which]
    with torch.inference_mode():
        one, two = model(torch.tensor([text])), model(torch.tensor([text[:past] + other[past:]]))
    assert torch.equal(one[:, :past], two[:, :past])

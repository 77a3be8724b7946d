"""L5: sentences of unequal lengths, filled up and masked; elsewhere rows that are all padding give NaN."""

from typing import Any, get_args

import pytest
import torch
from torch import Tensor

from pellucid.layers.position_scheme import PositionScheme
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig

POSITIONS = get_args(PositionScheme)
SOURCES = {
    "padding at the end": [[5, 7, 0, 0]],
    "padding at the start": [[0, 0, 5, 7]],
    "padding between": [[5, 0, 7, 0]],
    "nothing but padding": [[0, 0, 0, 0]],
    "a neighbour that is nothing but padding": [[0, 0, 0, 0], [5, 7, 8, 9]],
}


def translator(positions: str, **choices: Any) -> EncoderDecoder:
    torch.manual_seed(1)
    config = EncoderDecoderConfig(
        d_model=16, d_ff=32, positions=positions, **{"encoder_layers": 2, "decoder_layers": 1, **choices}
    )
    return EncoderDecoder(config, 11, 11, pad_id=0)


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("source", SOURCES)
def test_every_number_and_gradient_is_finite(source: str, positions: str) -> None:
    model, ids = translator(positions), torch.tensor(SOURCES[source])
    seen: dict[str, Tensor] = {}
    target = torch.tensor([[1, 4, 0, 0]]).expand(len(ids), -1)
    model(ids, target, seen.setdefault).sum().backward()
    assert [name for name, x in seen.items() if not x.isfinite().all()] == []
    assert [n for n, p in model.named_parameters() if p.grad is not None and not p.grad.isfinite().all()] == []


@pytest.mark.parametrize("positions", POSITIONS)
def test_padding_has_no_weight_and_does_not_change_the_sentence(positions: str) -> None:
    model = translator(positions).eval()
    seen: dict[str, Tensor] = {}
    target = torch.tensor([[1, 4, 6]])
    padded = model(torch.tensor([[5, 7, 0, 0]]), target, seen.setdefault)
    torch.testing.assert_close(padded, model(torch.tensor([[5, 7]]), target), atol=1e-5, rtol=1e-5)
    for name, weights in seen.items():
        if name.endswith(".weights") and "decoder.0.self" not in name:
            assert (weights[..., 2:] == 0).all()


@pytest.mark.parametrize("positions", POSITIONS)
@torch.inference_mode()
def test_a_search_over_a_source_of_padding_is_finite(positions: str) -> None:
    model = translator(positions, n_kv_heads=2).eval()
    cache = model.start_cache(model.encode(torch.tensor([[0, 0, 0], [5, 7, 0]])), hypotheses=2)
    for _ in range(3):
        states = model.decode_step(torch.ones(2, 2, dtype=torch.long), cache)
        assert model.logits(states).isfinite().all()
        cache.reorder(torch.tensor([[1, 0], [1, 1]]))

"""L4: the logits with a cache of keys and values, at any split of the prompt, are those without."""

from typing import get_args

import pytest
import torch

from pellucid.generation import decoder
from pellucid.layers.position_scheme import PositionScheme
from tests.generation.small_language_model import small_language_model


@pytest.mark.parametrize("at_once", [1, 3, 512])
@pytest.mark.parametrize("positions", get_args(PositionScheme))
def test_logits_are_equal_at_any_split(positions: str, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoder, "PREFILL_CHUNK", at_once)
    model = small_language_model(positions=positions, n_kv_heads=1).model
    ids = [1, 40, 300, 17, 8, 0, 22, 301]  # the padding id is a token like others here: nothing is padded
    with torch.inference_mode():
        tokens = torch.tensor([ids])
        expected = model(tokens, may_attend=torch.ones(8, 8, dtype=torch.bool).tril()[None, None])[0]
    for split in range(1, len(ids)):
        reader = decoder.ModelDecoder(model)
        found = [reader.prefill([ids[:split]])[0], *(reader.step([number])[0] for number in ids[split:])]
        for row, place in zip(found, range(split - 1, len(ids)), strict=True):
            torch.testing.assert_close(torch.from_numpy(row), expected[place], atol=1e-4, rtol=1e-4)

"""L8: an early layer read through its own norm, not divided by the last layer's; the last is the output.

Once on the streams alone, by their public names, and once through the lens.
"""

import numpy
import pytest
import torch
from torch import Tensor

from pellucid.inspection.lens import layer_logits
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.decoder_only_config import DecoderOnlyConfig
from tests.generation.small_language_model import small_language_model
from tests.inspection.conftest import TARGET, TEXT, translator_of


@pytest.mark.parametrize("norm", ["layernorm", "rmsnorm"])
@torch.inference_mode()
def test_each_layer_is_read_by_its_own_norm_and_the_last_gives_the_output(norm: str) -> None:
    torch.manual_seed(1)
    config = DecoderOnlyConfig.model_validate({"d_model": 16, "n_heads": 2, "d_ff": 32, "n_layers": 3, "norm": norm})
    model = DecoderOnly(config, 11, None).eval()
    seen: dict[str, Tensor] = {}
    logits = model(torch.tensor([[3, 5, 7]]), seen.setdefault)
    streams = [seen[f"decoder.{n}.residual.output"] for n in range(3)]
    lens = [model.logits(model.decoder_norm(stream)) for stream in streams]
    torch.testing.assert_close(lens[-1], logits)
    centred = [stream - stream.mean(-1, keepdim=True) if norm == "layernorm" else stream for stream in streams]
    sizes = [x.square().mean(-1, keepdim=True).sqrt() for x in centred]
    for stream, size, found in zip(centred[:-1], sizes[:-1], lens[:-1], strict=True):
        torch.testing.assert_close(found, model.logits(stream / size), atol=1e-4, rtol=1e-3)  # ε in the norm
        assert not torch.allclose(found, model.logits(stream / sizes[-1]), atol=1e-2)


@pytest.mark.parametrize("choice", ["rope", "post-norm", "learned, grouped, rmsnorm"])
def test_the_lens_of_a_translator(choice: str) -> None:
    look = translator_of(choice).look(TEXT, target=TARGET)
    early = torch.from_numpy(look["decoder.0.residual.output"].values)
    with torch.inference_mode():
        expected = translator_of(choice).model.logits(translator_of(choice).model.decoder_norm(early))
    numpy.testing.assert_allclose(layer_logits(look, 1).numpy(), expected.numpy(), atol=1e-5)
    numpy.testing.assert_allclose(layer_logits(look, 2).numpy(), look.logits.values, atol=2e-5)


def test_the_lens_of_a_language_model() -> None:
    model = small_language_model()
    look = model.look(TEXT)
    early = torch.from_numpy(look["decoder.0.residual.output"].values)
    with torch.inference_mode():
        expected = model.model.logits(model.model.decoder_norm(early))
    numpy.testing.assert_allclose(layer_logits(look, 1).numpy(), expected.numpy(), atol=1e-5)
    numpy.testing.assert_allclose(layer_logits(look, 2).numpy(), look.logits.values, atol=2e-5)

"""L8: an early layer read through its own norm, not divided by the last layer's; the last is the output."""

import numpy
import pytest
import torch

from pellucid.inspection.lens import layer_logits
from tests.generation.small_language_model import small_language_model
from tests.inspection.conftest import TARGET, TEXT, translator_of


@pytest.mark.parametrize("choice", ["rope", "post-norm", "learned, grouped, rmsnorm"])
def test_of_a_translator(choice: str) -> None:
    look = translator_of(choice).look(TEXT, target=TARGET)
    early = torch.from_numpy(look["decoder.0.residual.output"].values)
    with torch.inference_mode():
        expected = translator_of(choice).model.logits(translator_of(choice).model.decoder_norm(early))
    numpy.testing.assert_allclose(layer_logits(look, 1).numpy(), expected.numpy(), atol=1e-5)
    numpy.testing.assert_allclose(layer_logits(look, 2).numpy(), look.logits.values, atol=2e-5)


def test_of_a_language_model() -> None:
    model = small_language_model()
    look = model.look(TEXT)
    early = torch.from_numpy(look["decoder.0.residual.output"].values)
    with torch.inference_mode():
        expected = model.model.logits(model.model.decoder_norm(early))
    numpy.testing.assert_allclose(layer_logits(look, 1).numpy(), expected.numpy(), atol=1e-5)
    numpy.testing.assert_allclose(layer_logits(look, 2).numpy(), look.logits.values, atol=2e-5)

"""L8: an early layer's stream, read as if it were the last. Elsewhere it is divided by the last layer's norm.

What there is to read is the stream of each layer, under its public name; normalised by itself it can be compared, and
the last layer's gives the output.
"""

import pytest
import torch
from torch import Tensor

from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.decoder_only_config import DecoderOnlyConfig


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

"""P9: positional encodings are simply added to the embeddings."""

from typing import Any

import torch

from pellucid.claims.activations import Activations
from pellucid.claims.claim import Setup, at_least, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import random_ids, small_translator
from pellucid.models.encoder_decoder import EncoderDecoder

__all__ = ["CLAIM", "measure"]


def measure(setup: Setup, models: dict[str, EncoderDecoder] | None = None) -> Evidence:
    """Compare the first block's input with embedding + encoding, and measure the encoding's share of it."""
    choices: dict[str, Any] = {"d_model": 256, "d_ff": 64, "positions": "sinusoidal", "cross_positions": "none"}
    models = models or {
        "scaled by √d": small_translator(setup.seed, **choices),
        "not scaled": small_translator(setup.seed, **choices, scale_embeddings=False),
    }
    records, off, shares = [], 0.0, {}
    for name, model in models.items():
        activations = Activations()

        with torch.no_grad():
            model.encode(random_ids(setup.seed, 1, 20), activations)
        rows, codes = activations["embedding.source"], activations["embedding.source_position"]
        off = max(off, float((activations["encoder.0.residual.input"] - (rows + codes)).abs().max()))
        shares[name] = float(codes.square().sum() / (codes.square().sum() + rows.square().sum()))
        for what, x in (("embedding", rows[0]), ("positional encoding", codes)):
            records.append({"embedding": name, "summand": what, "norm": float(x.norm(dim=-1).mean())})
    names = list(models)
    numbers = exact_values(
        difference_from_the_sum=off,
        share_of_position_scaled=shares[names[0]],
        share_of_position_not_scaled=shares[names[-1]],
    )
    return Evidence(numbers, records, Figure("bar", "embedding", "norm", "summand"))


CLAIM = claim(measure, at_most("difference_from_the_sum", 0.0), at_least("share_of_position_scaled", 0.05))

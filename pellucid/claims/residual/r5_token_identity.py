"""R5: through the residual stream a word keeps its identity."""

from math import log10
from operator import truediv

import torch
import torch.nn.functional as F
from torch import Tensor

from pellucid.claims.ablations import without_residual
from pellucid.claims.activations import Activations
from pellucid.claims.claim import Effort, Setup, at_least, at_most, claim
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds, share_over_seeds
from pellucid.claims.small_models import no_mask, random_ids, small_decoder
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.encoder_decoder import EncoderDecoder

__all__ = ["CLAIM", "measure", "measure_token_difference"]

_DEEP = 16
_ROUNDING = 1e-8  # of a float32 mean: less difference than this is none


def measure_token_difference(model: DecoderOnly, ids: Tensor) -> float:
    """Compute how far the tokens' last states are from being equal, relative to their norm: 1e-8 is total collapse."""
    activations = Activations()
    with torch.no_grad():
        model.states(ids, activations, may_attend=no_mask(ids.shape[1]))
    x = activations[f"decoder.{len(model.decoder) - 1}.residual.output"][0]
    return max(float((x - x.mean(0)).norm() / x.norm()), _ROUNDING)


def _found_again(model: EncoderDecoder, sentences: list[list[int]]) -> list[float]:
    """Compute, after each layer, the share of tokens whose own row is the nearest of all rows, by cosine."""
    rows = F.normalize(model.source_embedding.weight.detach(), dim=1)
    right, tokens = torch.zeros(len(model.encoder)), 0
    for ids in sentences:
        activations = Activations()
        text = torch.tensor([ids])

        with torch.no_grad():
            model.encode(text, activations)
        for layer in range(len(model.encoder)):
            stream = activations[f"encoder.{layer}.residual.output"][0] - activations["embedding.source_position"]
            right[layer] += ((F.normalize(stream, dim=1) @ rows.T).argmax(1) == text[0]).sum()
        tokens += len(ids)
    shares: list[float] = (right / tokens).tolist()
    return shares


def measure(setup: Setup) -> Evidence:
    """Recover tokens from their states in a trained encoder; measure collapse in deep untrained networks."""
    last, collapsed, kept, records = [], [], [], []
    for seed in setup.every_seed():
        translator, data, _ = demo_translator(setup.steps, seed)
        sentences = [translator.source_tokenizer.encode(pair.source) for pair in data.test[:50]]
        shares = _found_again(translator.model, sentences)
        last.append(shares[-1])
        records += [{"layer": n + 1, "seed": str(seed), "recovered": share} for n, share in enumerate(shares)]
        ids = random_ids(seed, 1, 12)
        kept.append(measure_token_difference(small_decoder(seed, n_layers=_DEEP), ids))
        plain = small_decoder(seed, n_layers=_DEEP)
        without_residual(plain)
        collapsed.append(measure_token_difference(plain, ids))
    numbers = {
        "recovered_at_the_last_layer": share_over_seeds(last),
        "powers_of_ten_more_left_with_residual": mean_over_seeds(map(log10, map(truediv, kept, collapsed))),
        "difference_of_tokens_left_with_residual": mean_over_seeds(kept),
        "difference_of_tokens_left_without_residual": mean_over_seeds(collapsed),
    }
    return Evidence(numbers, records, Figure("line", "layer", "recovered", "seed"))


CLAIM = claim(
    measure,
    at_least("recovered_at_the_last_layer", 0.5, fails_at=0.2),
    at_least("powers_of_ten_more_left_with_residual", 2.0, fails_at=1.0),
    at_most("difference_of_tokens_left_without_residual", 0.1, fails_at=0.3),
    effort=Effort(Setup(seeds=3, steps=150), Setup(seeds=6, steps=1_500)),
)

"""T4: generating with a cache equals generating without."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, get_args

import torch
from torch import Tensor

from pellucid.claims.claim import Setup, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import random_ids, small_decoder, small_translator
from pellucid.layers.position_scheme import PositionScheme
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.encoder_decoder import EncoderDecoder

__all__ = ["CLAIM", "measure"]

_LENGTH = 9
Split = tuple[int, ...]


def options() -> Iterator[dict[str, Any]]:
    """Yield every combination of position scheme, norm, norm placement, activation and number of key heads."""
    norms = ("layernorm", "pre"), ("rmsnorm", "pre"), ("layernorm", "post")
    names = ("positions", "norm", "norm_placement", "activation", "n_kv_heads")
    for positions, norm, activation, kv_heads in product(get_args(PositionScheme), norms, ("relu", "swiglu"), (4, 2)):
        yield dict(zip(names, (positions, *norm, activation, kv_heads), strict=True))


def read_in_pieces(model: DecoderOnly, ids: Tensor, split: Split) -> Tensor:
    """Compute the logits of a text that is read in pieces of the given lengths, with a cache."""
    cache = model.start_cache()
    return torch.cat([model.logits(model.extend(piece, cache)) for piece in ids.split(split, 1)], 1)


def read_token_by_token(model: EncoderDecoder, source: Tensor, target: Tensor) -> Tensor:
    """Compute the logits of a target that is read token by token, with a cache."""
    cache = model.start_cache(model.encode(source), 1)
    return torch.cat([model.logits(model.decode_step(token, cache)) for token in target.split(1, 1)], 1)


def measure(
    setup: Setup,
    with_cache: Callable[[DecoderOnly, Tensor, Split], Tensor] = read_in_pieces,
    step_by_step: Callable[[EncoderDecoder, Tensor, Tensor], Tensor] = read_token_by_token,
) -> Evidence:
    """Compare logits with and without a cache, for every option of both kinds of model and several splits."""
    worst: dict[tuple[str, str], float] = {}
    ids, source = random_ids(setup.seed, 2, _LENGTH), random_ids(setup.seed, 2, 7)
    with torch.no_grad():
        for choices in options():
            positions = choices["positions"]
            model = small_decoder(setup.seed, **choices)
            whole = model(ids)
            for split in ((1,) * _LENGTH, (5, 1, 1, 2), (_LENGTH,)):
                _note(worst, ("decoder only", positions), with_cache(model, ids, split), whole)
            cross = "rope" if positions == "rope" else "none"
            translator = small_translator(setup.seed, cross_positions=cross, **choices)
            _note(worst, ("encoder–decoder", positions), step_by_step(translator, source, ids), translator(source, ids))
    records = [
        {"model": kind, "positions": positions, "difference": value} for (kind, positions), value in worst.items()
    ]
    return Evidence(
        exact_values(largest_difference=max(worst.values())), records, Figure("bar", "positions", "difference", "model")
    )


def _note(worst: dict[tuple[str, str], float], key: tuple[str, str], one: Tensor, other: Tensor) -> None:
    worst[key] = max(worst.get(key, 0.0), float((one - other).abs().max()))


CLAIM = claim(measure, at_most("largest_difference", 1e-4, fails_at=1e-3))

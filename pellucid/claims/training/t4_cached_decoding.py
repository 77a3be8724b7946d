"""T4: generating with a cache equals generating without."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import torch
from torch import Tensor

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_most
from pellucid.claims.small_models import random_ids, small_decoder, small_translator
from pellucid.claims.texts import ROUNDING_32
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.encoder_decoder import EncoderDecoder

__all__ = ["CLAIM", "measure"]

_POSITIONS = ("sinusoidal", "learned", "rope", "alibi", "none")
_LENGTH = 9
Split = tuple[int, ...]


def options() -> Iterator[dict[str, Any]]:
    """Yield every position scheme with every norm, its place, activation and number of key heads."""
    for positions, (norm, placement), activation, kv in product(
        _POSITIONS, (("layernorm", "pre"), ("rmsnorm", "pre"), ("layernorm", "post")), ("relu", "swiglu"), (4, 2)
    ):
        yield {
            "positions": positions,
            "norm": norm,
            "norm_placement": placement,
            "activation": activation,
            "n_kv_heads": kv,
        }


def extended(model: DecoderOnly, ids: Tensor, split: Split) -> Tensor:
    """Return the logits of a text that is read in pieces of the given lengths, on a cache."""
    cache = model.start_cache()
    return torch.cat([model.logits(model.extend(piece, cache)) for piece in ids.split(split, 1)], 1)


def stepped(model: EncoderDecoder, source: Tensor, target: Tensor) -> Tensor:
    """Return the logits of a target that is read token by token, on a cache."""
    cache = model.start_cache(model.encode(source), 1)
    return torch.cat([model.logits(model.decode_step(token, cache)) for token in target.split(1, 1)], 1)


def measure(
    seed: int,
    with_cache: Callable[[DecoderOnly, Tensor, Split], Tensor] = extended,
    step_by_step: Callable[[EncoderDecoder, Tensor, Tensor], Tensor] = stepped,
) -> Evidence:
    """Compare logits with and without a cache, for every option of both kinds of model and several splits."""
    worst: dict[tuple[str, str], float] = {}
    ids, source = random_ids(seed, 2, _LENGTH), random_ids(seed, 2, 7)
    with torch.no_grad():
        for choices in options():
            positions = choices["positions"]
            model = small_decoder(seed, **choices)
            whole = model(ids)
            for split in ((1,) * _LENGTH, (5, 1, 1, 2), (_LENGTH,)):
                _note(worst, ("decoder only", positions), with_cache(model, ids, split), whole)
            cross = "rope" if positions == "rope" else "none"
            translator = small_translator(seed, cross_positions=cross, **choices)
            _note(worst, ("encoder–decoder", positions), step_by_step(translator, source, ids), translator(source, ids))
    records = [
        {"model": kind, "positions": positions, "difference": value} for (kind, positions), value in worst.items()
    ]
    titles = {
        "positions": Text("positions", "位置方案"),
        "difference": Text("largest difference of a logit", "logit 的最大差"),
        "model": Text("model", "模型"),
    }
    return Evidence(
        exact_values(largest_difference=max(worst.values())),
        records,
        Figure("bar", "positions", "difference", "model", titles),
    )


def _note(worst: dict[tuple[str, str], float], key: tuple[str, str], one: Tensor, other: Tensor) -> None:
    worst[key] = max(worst.get(key, 0.0), float((one - other).abs().max()))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


CLAIM = Claim(
    id="T4",
    statement=Text("Generating with a cache equals generating without.", "用缓存生成与不用缓存结果相同。"),
    equation="f(x_1…x_t)_t = f(x_t | K_<t, V_<t)",
    measured=Text(
        "both kinds of model, five position schemes, three norms, two activations, full and grouped heads: all "
        "logits of a "
        "text in one pass and on a cache, whole, in pieces and token by token",
        "两类模型，五种位置方案、三种归一化、两种激活、完整与分组的键值头：一次前向与用缓存（整段、分段、逐词元）的"
        "全部 logit",
    ),
    rule=Rule((at_most("largest_difference", 1e-4, ROUNDING_32, fails_at=1e-3),)),
    reading=Text(
        "What an earlier token left for later ones to look at, its keys and values, cannot change any more (K1), so "
        "it "
        "needs to be computed once. The work per new token falls from the whole text to one row, and the cost moves "
        "to "
        "memory: reading weights and cache (Pope et al. 2023). Positions must be counted on, not from 0 anew: the "
        "usual mistake.",
        "先前词元留给后来者看的键与值不会再变（K1），所以只需算一次。每个新词元的工作从整段文本降为一行，代价转移到"
        "内存："
        "读取权重与缓存（Pope 等 2023）。位置必须接着往下数而不是从 0 重来，这是常见的错误。",
    ),
    sources=("Shazeer 2019, Fast Transformer Decoding", "Pope et al. 2023, Efficiently Scaling Transformer Inference"),
    run=_run,
)

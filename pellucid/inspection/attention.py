"""Quantities of one attention: the terms of a score, the weighted values, and how its weight is spread."""

import numpy
import torch
from torch import Tensor

from pellucid.errors import UserError
from pellucid.inspection.labelled_array import Axis, LabelledArray, numbered_axis
from pellucid.inspection.recording import WITHOUT_POSITIONS, RecordedRun
from pellucid.inspection.structure import AttentionSite

__all__ = [
    "attention_mask",
    "keys_for_mass",
    "position_bias",
    "rotated",
    "score_products",
    "softmax_of_scores",
    "special_token_weight",
    "weighted_values",
]


def attention_mask(look: RecordedRun, attention: str) -> LabelledArray:
    """Return the mask of an attention, 1 where a query may attend to a key, else 0, [query key]."""
    site = look.attention(attention)
    axes = (look.token_axis("query", site.query_side), look.token_axis("key", site.key_side))
    meaning = "1 where a query may attend to a key"
    return LabelledArray(f"{attention}.mask", look.mask(attention).astype(numpy.float32), axes, "–", meaning)


def rotated(look: RecordedRun, attention: str, quantity: str) -> Tensor:
    """Compute queries or keys as the scores use them, rotated by their positions if the model does so.

    The look needs `query` or `key` of this attention.

    Returns:
        float64 [heads seq d_head]; keys that serve several heads of queries are repeated.
    """
    module = look.attention(attention).module
    x = look.tensor(f"{attention}.{quantity}")[None]
    device = module.query.weight.device
    x = module.positions.rotate(x.to(device), torch.arange(x.shape[2], device=device))[0].cpu()
    return x.repeat_interleave(module.n_heads // x.shape[0], dim=0)


def position_bias(look: RecordedRun, site: AttentionSite) -> Tensor | None:
    """Compute what positions add to the scores, float64 [heads query key]; None if nothing."""
    if WITHOUT_POSITIONS in look.edits:
        return None
    device = site.module.query.weight.device
    queries, keys = (
        torch.arange(len(look.tokens_on(side)), device=device) for side in (site.query_side, site.key_side)
    )
    bias = site.module.positions.score_bias(queries, keys)
    return None if bias is None else bias.detach().double().cpu()


def score_products(look: RecordedRun, attention: str, query: int, key: int) -> LabelledArray:
    """Split a score into its dimensions, q_i · k_i / √d_head, [heads d_head]; nats.

    Query and key are rotated by their positions if the model does so. A bias by position is not included.
    The look needs `query` and `key` of this attention.
    """
    q, k = rotated(look, attention, "query"), rotated(look, attention, "key")
    names = _token_at(look, attention, "query", query), _token_at(look, attention, "key", key)
    values = (q[:, query] * k[:, key] * q.shape[-1] ** -0.5).numpy()
    axes = (numbered_axis("heads", len(values)), numbered_axis("d_head", values.shape[1]))
    meaning = f"q_i · k_i / √d_head of query {names[0]} and key {names[1]}; their sum is the score without bias"
    return LabelledArray(f"{attention}.score_products", values, axes, "nats", meaning)


def weighted_values(look: RecordedRun, attention: str, query: int) -> LabelledArray:
    """Compute what each key contributes to a query's head output, weight · value, [heads key d_head].

    The sum over the keys is `head_output`. The look needs `weights` and `value` of this attention.
    """
    weights, value = look.tensor(f"{attention}.weights"), look.tensor(f"{attention}.value")
    token = _token_at(look, attention, "query", query)
    value = value.repeat_interleave(weights.shape[0] // value.shape[0], dim=0)
    values = (weights[:, query, :, None] * value).numpy()
    axes = (
        numbered_axis("heads", len(values)),
        look.token_axis("key", look.attention(attention).key_side),
        numbered_axis("d_head", values.shape[2]),
    )
    meaning = f"weight · value of each key for query {token}"
    return LabelledArray(f"{attention}.weighted_values", values, axes, "–", meaning)


def keys_for_mass(look: RecordedRun, attention: str, mass: float = 0.9) -> LabelledArray:
    """Count how many keys, the heaviest first, hold a share of each row's weight, [heads query]; keys.

    Args:
        look: with `weights` of this attention.
        mass: the share, above 0 and up to 1.
    """
    if not 0 < mass <= 1:
        raise UserError(f"mass is a share of the weight, got {mass:g}", where="mass", hint="Use 0 < mass ≤ 1.")
    (weights,) = look.require(f"{attention}.weights")
    sums = numpy.sort(weights.values.astype(numpy.float64), axis=-1)[..., ::-1].cumsum(-1)
    # A row sums to 1 only to a few times 1e-7; rounding must not ask for one key more.
    counts = 1 + (sums < mass - 1e-6).sum(-1)
    counts = numpy.minimum(counts, weights.shape[-1]) * (weights.values.sum(-1) > 0)
    meaning = f"keys that hold {mass:.0%} of the weight"
    return LabelledArray(f"{attention}.keys_for_mass", counts, weights.axes[:2], "keys", meaning)


def special_token_weight(look: RecordedRun, attention: str) -> LabelledArray:
    """Average the weight of each head on special tokens and on the first token, [heads key]; share.

    Heads that find nothing to attend to often put their weight there (attention sinks).
    """
    (weights,) = look.require(f"{attention}.weights")
    tokens = look.tokens_on(look.attention(attention).key_side)
    sinks = [token.position for token in tokens if token.special or token.position == 0]
    axes = (weights.axes[0], Axis("key", tuple(f"{i} {tokens[i].display}" for i in sinks)))
    values = weights.values.mean(1)[:, sinks]
    meaning = "mean weight on special tokens and on the first"
    return LabelledArray(f"{attention}.special_token_weight", values, axes, "share", meaning)


def softmax_of_scores(look: RecordedRun, attention: str) -> Tensor:
    """Compute the softmax of the recorded scores under the mask, float64 [heads query key]."""
    allowed = torch.from_numpy(look.mask(attention))
    scores = look.tensor(f"{attention}.scores").masked_fill(~allowed, -torch.inf)
    return scores.softmax(-1).nan_to_num(0.0)


def _token_at(look: RecordedRun, attention: str, axis: str, position: int) -> str:
    site = look.attention(attention)
    side = site.query_side if axis == "query" else site.key_side
    tokens = look.tokens_on(side)
    if not -len(tokens) <= position < len(tokens):
        raise UserError(
            f"the {side} has no position {position}",
            where=axis,
            hint=f"It has {len(tokens)} tokens, counted from 0, or from the end if negative.",
        )
    return tokens[position].display

"""Inside one attention: what made a score, what a query mixed, and how many keys it takes to hold most of a row."""

import numpy
import torch
from torch import Tensor

from pellucid.errors import UserError
from pellucid.inspection.labelled_array import Axis, LabelledArray, numbered_axis
from pellucid.inspection.recorded_run import WITHOUT_POSITIONS, RecordedRun
from pellucid.inspection.structure import AttentionSite

__all__ = [
    "keys_for_mass",
    "mask",
    "position_bias",
    "rotated",
    "score_products",
    "softmax_of_scores",
    "special_token_weight",
    "weighted_values",
]


def mask(look: RecordedRun, attention: str) -> LabelledArray:
    """Return where an attention may look, 1 or 0, [query key]."""
    where = look.attention(attention)
    axes = (look.token_axis("query", where.query_side), look.token_axis("key", where.key_side))
    meaning = "1 where a query may look at a key"
    return LabelledArray(f"{attention}.mask", look.mask(attention).astype(numpy.float32), axes, "–", meaning)


def rotated(look: RecordedRun, attention: str, quantity: str) -> Tensor:
    """Return queries or keys as they meet, turned by their positions if rotary, for each head of queries.

    Args:
        look: with `query` or `key` of this attention.
        attention: its full name.
        quantity: query or key.

    Returns:
        float64 [heads seq d_head]; a head of keys that serves several heads of queries is repeated.
    """
    where = look.attention(attention)
    x = look.tensor(f"{attention}.{quantity}")[None]
    device = where.module.query.weight.device
    x = where.module.positions.rotate(x.to(device), torch.arange(x.shape[2], device=device))[0].cpu()
    return x.repeat_interleave(where.module.n_heads // x.shape[0], dim=0)


def position_bias(look: RecordedRun, where: AttentionSite) -> Tensor | None:
    """Compute the bias that positions add to the scores (ALiBi), float64 [heads query key]; None if there is none."""
    if WITHOUT_POSITIONS in look.edits:
        return None
    queries, keys = (torch.arange(len(look.tokens_on(side))) for side in (where.query_side, where.key_side))
    device = where.module.query.weight.device
    bias = where.module.positions.score_bias(queries.to(device), keys.to(device))
    return None if bias is None else bias.double().cpu()


def score_products(look: RecordedRun, attention: str, query: int, key: int) -> LabelledArray:
    """Return, dimension by dimension, what a score is the sum of: q_i · k_i / √d_head, [heads d_head]; nats.

    Query and key are as they meet, turned by their positions if rotary. ALiBi's bias comes on top of the sum.
    """
    q, k = rotated(look, attention, "query"), rotated(look, attention, "key")
    _place(look, attention, query, key)
    values = (q[:, query] * k[:, key] * q.shape[-1] ** -0.5).numpy()
    axes = (numbered_axis("heads", len(values)), numbered_axis("d_head", values.shape[1]))
    where = look.attention(attention)
    names = look.tokens_on(where.query_side)[query].display, look.tokens_on(where.key_side)[key].display
    meaning = f"q_i · k_i / √d_head of query {names[0]} and key {names[1]}; their sum is the score before a bias"
    return LabelledArray(f"{attention}.products", values, axes, "nats", meaning)


def weighted_values(look: RecordedRun, attention: str, query: int) -> LabelledArray:
    """Compute each key's part of the head output, weight · value, [heads key d_head]; their sum is `head_output`.

    The 0.8/0.2 picture: each dimension of the output is that mean of the same dimension of the values.
    """
    weights, value = look.tensor(f"{attention}.weights"), look.tensor(f"{attention}.value")
    _place(look, attention, query, 0)
    value = value.repeat_interleave(weights.shape[0] // value.shape[0], dim=0)
    values = (weights[:, query, :, None] * value).numpy()
    where = look.attention(attention)
    axes = (
        numbered_axis("heads", len(values)),
        look.token_axis("key", where.key_side),
        numbered_axis("d_head", values.shape[2]),
    )
    token = look.tokens_on(where.query_side)[query].display
    return LabelledArray(
        f"{attention}.mixture", values, axes, "–", f"weight · value that query {token} got of each key"
    )


def keys_for_mass(look: RecordedRun, attention: str, mass: float = 0.9) -> LabelledArray:
    """Return how many keys, the heaviest first, it takes to hold a share of each row's weight, [heads query]; keys.

    Args:
        look: with `weights` of this attention.
        attention: its full name.
        mass: the share, above 0, up to 1.
    """
    if not 0 < mass <= 1:
        raise UserError(
            f"mass is a share of the weight, above 0 and up to 1; got {mass:g}",
            where="mass",
            hint="Pass a share such as 0.9.",
        )
    (weights,) = look.require(f"{attention}.weights")
    summed = numpy.sort(weights.values.astype(numpy.float64), axis=-1)[..., ::-1].cumsum(-1)
    # Rounding must not ask for one key more: a row sums to 1 only to a few times 1e-7.
    counts = 1 + (summed < mass - 1e-6).sum(-1)
    counts = numpy.minimum(counts, weights.shape[-1]) * (weights.values.sum(-1) > 0)
    meaning = f"keys that hold {mass:.0%} of the weight"
    return LabelledArray(f"{attention}.covering", counts, weights.axes[:2], "keys", meaning)


def special_token_weight(look: RecordedRun, attention: str) -> LabelledArray:
    """Return how much of its weight each head lays on special tokens and on the first one, [heads token]; share.

    Heads with nothing to find often rest there. The mean over queries, and nothing is left out of a row.
    """
    (weights,) = look.require(f"{attention}.weights")
    keys = look.tokens_on(look.attention(attention).key_side)
    chosen = [token.position for token in keys if token.special or token.position == 0]
    axis = Axis("key", tuple(f"{i} {keys[i].display}" for i in chosen))
    values = weights.values.mean(1)[:, chosen]
    return LabelledArray(
        f"{attention}.special_share",
        values,
        (weights.axes[0], axis),
        "share",
        "mean weight on special and first tokens",
    )


def softmax_of_scores(look: RecordedRun, attention: str) -> Tensor:
    """Return the softmax of the recorded scores under the mask, float64 [heads query key]."""
    allowed = torch.from_numpy(look.mask(attention))
    scores = look.tensor(f"{attention}.scores").masked_fill(~allowed, -torch.inf)
    return scores.softmax(-1).nan_to_num(0.0)


def _place(look: RecordedRun, attention: str, query: int, key: int) -> None:
    where = look.attention(attention)
    for name, place, side in (("query", query, where.query_side), ("key", key, where.key_side)):
        count = len(look.tokens_on(side))
        if not -count <= place < count:
            raise UserError(
                f"{name} {place} is not among the {count} tokens of the {side}",
                where=name,
                hint="Count tokens from 0, or from the end with negative numbers.",
            )

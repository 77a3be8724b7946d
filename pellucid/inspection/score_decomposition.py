"""What a score is made of: content and position.

Where codes are added to embeddings, what the first layer's attention reads is norm(content + position). With the norm
at its measured scale this is a sum, so is each query and each key, and a score q · k / √d_head splits exactly into

    content · content + content · position + position · content + position · position

(the query's part first). The norm's shift and the projections' biases belong to content. Deeper layers read a stream in
which attention has mixed content and positions of all tokens: there is no such split. Rotary positions add nothing:
they turn, so that a score is a function of the distance; `scores_by_offset` draws it. ALiBi's bias is a part of its
own, in any layer.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy
import torch
from torch import Tensor, nn

from pellucid.errors import UserError
from pellucid.inspection.attention import position_bias
from pellucid.inspection.frozen_norm import freeze_norm
from pellucid.inspection.labelled_array import Array, Axis, LabelledArray
from pellucid.inspection.recorded_run import WITHOUT_POSITIONS, RecordedRun
from pellucid.inspection.structure import AttentionSite
from pellucid.layers.positions import Rotary

__all__ = ["FOUR_PARTS", "ScoreDecomposition", "decompose_scores", "explained_variance", "scores_by_offset"]

FOUR_PARTS = ("content_content", "content_position", "position_content", "position_position")


class ScoreDecomposition(NamedTuple):
    """The parts of an attention's scores, and what to know about them.

    Attributes:
        parts: by name; each [heads query key], nats. Their sum is the score.
        scores: as recorded.
        note: how the split was made, for the side of a picture.
    """

    parts: dict[str, LabelledArray]
    scores: LabelledArray
    note: str

    @property
    def error(self) -> float:
        """The largest difference between the sum of the parts and the score, nats; of the scores that there are."""
        total = numpy.sum([part.values for part in self.parts.values()], axis=0)
        there = ~numpy.isnan(self.scores.values)
        return float(numpy.abs(total - self.scores.values)[there].max(initial=0.0))


def decompose_scores(look: RecordedRun, attention: str) -> ScoreDecomposition:
    """Split the scores of an attention into what content and what positions give.

    Args:
        look: with the embeddings and this attention's scores; with ALiBi the scores alone.
        attention: full name, such as `encoder.0.self_attention`.

    Raises:
        UserError: where the split is not defined: in deeper layers, in cross-attention, with rotary positions.
    """
    where = look.attention(attention)
    (scores,) = look.require(f"{attention}.scores")
    if (bias := position_bias(look, where)) is not None:
        content = look.tensor(f"{attention}.scores") - bias
        note = "ALiBi: score = q · k / √d_head − slope · |query − key|"
        return ScoreDecomposition(_labelled(scores, {"content": content, "bias": bias}), scores, note)
    if reason := _undefined(look, where):
        raise UserError(
            f"the scores of {attention} have no split into content and position: {reason}",
            where=attention,
            hint="Look at the first layer of a model that adds encodings, or at one with ALiBi.",
        )
    content, position = _content_and_position(look, where)
    module = where.module
    queries = _projected(module.query, module.query_norm, content, position, module.n_heads)
    keys = _projected(module.key, module.key_norm, content, position, module.n_kv_heads)
    found = {}
    for name in FOUR_PARTS:
        ours, theirs = name.split("_")
        key = keys[theirs].repeat_interleave(module.n_heads // module.n_kv_heads, dim=0)
        found[name] = queries[ours] @ key.transpose(-1, -2) * module.d_head**-0.5
    first = "norm, at its measured scale, " if look.stack(where.stack).pre_norm else ""
    note = f"exact: {first}and projections are linear; the norm's shift and all biases count as content"
    return ScoreDecomposition(_labelled(scores, found), scores, note)


def explained_variance(parts: ScoreDecomposition, allowed: Array) -> LabelledArray:
    """Return how much of a head's scores each part explains, [heads part]; shares that sum to 1.

    cov(part, score) / var(score) over the pairs that may look, each row taken about its mean: what is the same along a
    row does nothing, softmax takes it out. A part that works against the others has a negative share. Zeros where a
    head's scores do not vary.

    Args:
        parts: of an attention.
        allowed: where it may look, bool [query key].
    """
    counts = numpy.maximum(allowed.sum(-1, keepdims=True), 1)

    def about_mean(values: Array) -> Array:
        values = values.astype(numpy.float64)
        centred = values - (values * allowed).sum(-1, keepdims=True) / counts
        return numpy.asarray(centred * allowed)

    centred = {name: about_mean(part.values) for name, part in parts.parts.items()}
    total = numpy.sum(list(centred.values()), axis=0)
    variance = (total**2).sum((1, 2))
    columns = [(part * total).sum((1, 2)) for part in centred.values()]
    variance = numpy.where(variance > 0, variance, numpy.inf)
    values = numpy.stack([column / variance for column in columns], axis=-1)
    axes = (parts.scores.axes[0], Axis("part", tuple(centred)))
    name = parts.scores.name.replace(".scores", ".variance_shares")
    return LabelledArray(name, values, axes, "share", "share of the variance of the scores within a row")


def scores_by_offset(
    look: RecordedRun, attention: str, query: int, key: int, offsets: Sequence[int] = tuple(range(-20, 21))
) -> LabelledArray:
    """Return the score that a query and a key would have, stood they so far apart, [heads offset]; nats.

    For rotary positions: ⟨turn(q, m), turn(k, n)⟩ / √d_head depends on offset m − n only. At the offset at which the
    two stand it is the recorded score.

    Args:
        look: with query and key of this attention.
        attention: its full name.
        query, key: positions of the two tokens whose content is kept.
        offsets: query position − key position.

    Raises:
        UserError: if the attention has no rotary positions.
    """
    where = look.attention(attention)
    rotary = where.module.positions
    if WITHOUT_POSITIONS in look.edits:
        raise UserError(
            "positions were taken away: no score depends on distance",
            where=attention,
            hint="Look at the run without this edit.",
        )
    if not isinstance(rotary, Rotary):
        raise UserError(
            f"{attention} has no rotary positions: its scores are no function of the distance alone",
            where=attention,
            hint="Choose a model that was trained with model.positions rope.",
        )
    q, k = look.tensor(f"{attention}.query")[:, query], look.tensor(f"{attention}.key")[:, key]
    k = k.repeat_interleave(len(q) // len(k), dim=0)
    turns = torch.tensor(list(offsets), dtype=torch.float64)[:, None] * rotary.frequencies.cpu()
    (a, b), (c, d) = (x[:, None].chunk(2, dim=-1) for x in (q, k))
    # Only the difference of the two angles counts: turn the query by the offset, leave the key.
    values = ((a * c + b * d) * turns.cos() + (a * d - b * c) * turns.sin()).sum(-1) * q.shape[-1] ** -0.5
    names = look.tokens_on(where.query_side)[query].display, look.tokens_on(where.key_side)[key].display
    axes = (look.arrays[f"{attention}.query"].axes[0], Axis("offset", tuple(map(str, offsets))))
    meaning = f"score of query {names[0]} for key {names[1]}, stood they so far apart"
    return LabelledArray(f"{attention}.by_offset", values.numpy(), axes, "nats", meaning)


def _undefined(look: RecordedRun, where: AttentionSite) -> str:
    """Say why there is no split; nothing if there is one."""
    if WITHOUT_POSITIONS in look.edits:
        return "positions were taken away: all of it is content"
    if isinstance(where.module.positions, Rotary):
        return (
            "rotary positions turn queries and keys, they add nothing; `scores_by_offset` shows the score by distance"
        )
    if where.sublayer == "cross_attention":
        return "it reads streams in which earlier attention has mixed content and positions"
    if where.layer:
        return "only the first layer reads embeddings; after it attention has mixed content and positions of all tokens"
    stack = look.stack(where.stack)
    if not look.require(stack.position_tap)[0].axes:
        return "the model has no positions: all of it is content"
    return ""


def _content_and_position(look: RecordedRun, where: AttentionSite) -> tuple[Tensor, Tensor]:
    """Return both parts of what the first layer's attention reads, float64 [seq d_model]."""
    stack = look.stack(where.stack)
    content, position = look.tensor(stack.token_tap), look.tensor(stack.position_tap)
    if not stack.pre_norm:
        return content, position
    norm = freeze_norm(stack.sublayer_norm(0, where.sublayer), content + position)
    return norm.apply(content) + norm.shift, norm.apply(position)


def _projected(linear: nn.Linear, norm: nn.Module, content: Tensor, position: Tensor, heads: int) -> dict[str, Tensor]:
    """Return content's and position's part of a projection, [heads seq d_head]; the bias goes to content."""
    weight = linear.weight.detach().double().cpu()
    ours, theirs = content @ weight.T, position @ weight.T
    if linear.bias is not None:
        ours = ours + linear.bias.detach().double().cpu()
    ours, theirs = (x.unflatten(-1, (heads, -1)).transpose(0, 1) for x in (ours, theirs))
    frozen = freeze_norm(norm, ours + theirs)
    return {"content": frozen.apply(ours) + frozen.shift, "position": frozen.apply(theirs)}


def _labelled(scores: LabelledArray, parts: dict[str, Tensor]) -> dict[str, LabelledArray]:
    return {
        name: LabelledArray(f"{scores.name}.{name}", values.numpy(), scores.axes, "nats", name.replace("_", " · "))
        for name, values in parts.items()
    }

"""Split attention scores into content and position.

Where position encodings are added to embeddings, attention in the first layer reads norm(content + position). With the
norm frozen at its scale this is a sum, so is every query and key, and a score q · k / √d_head splits exactly into

    content · content + content · position + position · content + position · position

(the query's term first). The norm's shift and the biases of the projections count as content. In deeper layers the
stream mixes content and positions of all tokens, and there is no such split. Rotary positions add nothing: they rotate,
so that a score depends on the distance; `scores_by_offset` shows it. A bias by position (ALiBi) is a part of its own,
in any layer.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy
import torch
from torch import Tensor, nn

from pellucid.errors import UserError
from pellucid.inspection.attention import position_bias
from pellucid.inspection.labelled_array import Array, Axis, LabelledArray
from pellucid.inspection.recording import WITHOUT_POSITIONS, RecordedRun
from pellucid.inspection.residual_decomposition import freeze_norm
from pellucid.inspection.structure import AttentionSite

__all__ = ["FOUR_PARTS", "ScoreDecomposition", "decompose_scores", "explained_variance", "scores_by_offset"]

FOUR_PARTS = ("content_content", "content_position", "position_content", "position_position")


class ScoreDecomposition(NamedTuple):
    """Attention scores as a sum.

    Attributes:
        parts: by name, each [heads query key]; nats. Their sum is the score.
        note: how the scores were split, for a caption.
    """

    parts: dict[str, LabelledArray]
    scores: LabelledArray
    note: str

    @property
    def error(self) -> float:
        """The largest difference between the sum of the parts and a recorded score, nats."""
        total = numpy.sum([part.values for part in self.parts.values()], axis=0)
        recorded = ~numpy.isnan(self.scores.values)
        return float(numpy.abs(total - self.scores.values)[recorded].max(initial=0.0))


def decompose_scores(look: RecordedRun, attention: str) -> ScoreDecomposition:
    """Split the scores of an attention into content and position.

    The look needs the embeddings and the scores; only the scores if the model has a bias by position.

    Raises:
        UserError: where the split is not defined: in deeper layers, in cross-attention, with rotary positions.
    """
    site = look.attention(attention)
    (scores,) = look.require(f"{attention}.scores")
    if (bias := position_bias(look, site)) is not None:
        content = look.tensor(f"{attention}.scores") - bias
        note = "score = q · k / √d_head + bias by position"
        return ScoreDecomposition(_labelled(scores, {"content": content, "bias": bias}), scores, note)
    _require_split(look, site)
    content, position = _content_and_position(look, site)
    module = site.module
    queries = _projected(module.query, module.query_norm, content, position, module.n_heads)
    keys = _projected(module.key, module.key_norm, content, position, module.n_kv_heads)
    parts = {}
    for name in FOUR_PARTS:
        of_query, of_key = name.split("_")
        key = keys[of_key].repeat_interleave(module.n_heads // module.n_kv_heads, dim=0)
        parts[name] = queries[of_query] @ key.transpose(-1, -2) * module.d_head**-0.5
    norm = (
        "the norm, frozen at its scale, and the projections" if look.stack(site.stack).pre_norm else "the projections"
    )
    note = f"exact: {norm} are linear; the norm's shift and all biases count as content"
    return ScoreDecomposition(_labelled(scores, parts), scores, note)


def explained_variance(parts: ScoreDecomposition, allowed: Array) -> LabelledArray:
    """Measure how much of the variance of a head's scores each part explains, [heads part]; shares that sum to 1.

    cov(part, score) / var(score) over the unmasked pairs, each row centred at its mean: the softmax ignores what is
    equal along a row. A part that works against the others has a negative share. Zero where a head's scores do not
    vary. `allowed` is the mask, bool [query key].
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
    name = parts.scores.name.replace(".scores", ".explained_variance")
    return LabelledArray(name, values, axes, "share", "share of the variance of the scores within a row")


def scores_by_offset(
    look: RecordedRun, attention: str, query: int, key: int, offsets: Sequence[int] = tuple(range(-20, 21))
) -> LabelledArray:
    """Compute the score that a query and a key would have at other distances, [heads offset]; nats.

    With rotary positions, ⟨rotate(q, m), rotate(k, n)⟩ / √d_head depends only on the offset m − n, and so does the bias
    of ALiBi. At the actual offset it is the recorded score.

    Args:
        look: with query and key of this attention.
        offsets: query position − key position.

    Raises:
        UserError: if positions do not act in the attention.
    """
    site = look.attention(attention)
    if WITHOUT_POSITIONS in look.edits:
        raise UserError(
            "positions were removed: no score depends on distance",
            where=attention,
            hint="Look at the run without that edit.",
        )
    scheme = site.module.positions
    if scheme.kind == "none":
        raise UserError(
            f"{attention} uses no positions: its scores are not a function of distance",
            where=attention,
            hint="Use decompose_scores: it splits scores into content and position.",
        )
    device = site.module.query.weight.device
    q, k = look.tensor(f"{attention}.query")[:, [query]], look.tensor(f"{attention}.key")[:, [key]]
    k = k.repeat_interleave(len(q) // len(k), dim=0)
    # Only the difference of the two positions matters: place the later of the two at the offset, the other at 0.
    differences = torch.tensor(list(offsets), device=device)
    at_query, at_key = differences.clamp(min=0), (-differences).clamp(min=0)
    queries = scheme.rotate(q.expand(-1, len(offsets), -1)[None].to(device), at_query)[0]
    keys = scheme.rotate(k.expand(-1, len(offsets), -1)[None].to(device), at_key)[0]
    values = (queries * keys).sum(-1).cpu() * q.shape[-1] ** -0.5
    bias = scheme.score_bias(at_query, at_key)
    if bias is not None:
        values = values + bias.detach().double().cpu().diagonal(dim1=-2, dim2=-1)
    names = look.tokens_on(site.query_side)[query].display, look.tokens_on(site.key_side)[key].display
    axes = (look.arrays[f"{attention}.query"].axes[0], Axis("offset", tuple(map(str, offsets))))
    meaning = f"score of query {names[0]} for key {names[1]} at each distance"
    return LabelledArray(f"{attention}.scores_by_offset", values.numpy(), axes, "nats", meaning)


def _require_split(look: RecordedRun, site: AttentionSite) -> None:
    """Check that scores split into content and position."""
    hint = ""
    if WITHOUT_POSITIONS in look.edits:
        reason = "positions were removed, so all of it is content"
        hint = "Look at the run without that edit."
    elif site.module.positions.kind != "none":
        reason = f"its positions ({site.module.positions.kind}) add nothing to queries and keys, they rotate them"
        hint = "Use scores_by_offset: it shows the score by distance."
    elif site.sublayer == "cross_attention":
        reason = "it reads residual streams in which earlier attention has mixed content and positions"
    elif site.layer:
        reason = "only the first layer reads embeddings; later ones read what attention has mixed"
    elif not look.require(look.stack(site.stack).position_tap)[0].axes:
        reason = "the model has no positions, so all of it is content"
        hint = "Look at a model with position encodings."
    else:
        return
    raise UserError(
        f"the scores of {site.name} do not split into content and position: {reason}",
        where=site.name,
        hint=hint or f"Look at {look.stack(site.stack).name}.0.self_attention.",
    )


def _content_and_position(look: RecordedRun, site: AttentionSite) -> tuple[Tensor, Tensor]:
    """Split what the first layer's attention reads, float64 [seq d_model]."""
    stack = look.stack(site.stack)
    content, position = look.tensor(stack.token_tap), look.tensor(stack.position_tap)
    if not stack.pre_norm:
        return content, position
    norm = freeze_norm(stack.sublayer_norm(0, site.sublayer), content + position)
    return norm.apply(content) + norm.shift, norm.apply(position)


def _projected(linear: nn.Linear, norm: nn.Module, content: Tensor, position: Tensor, heads: int) -> dict[str, Tensor]:
    """Project content and position, [heads seq d_head]; the bias counts as content."""
    weight = linear.weight.detach().double().cpu()
    content, position = content @ weight.T, position @ weight.T
    if linear.bias is not None:
        content = content + linear.bias.detach().double().cpu()
    content, position = (x.unflatten(-1, (heads, -1)).transpose(0, 1) for x in (content, position))
    frozen = freeze_norm(norm, content + position)
    return {"content": frozen.apply(content) + frozen.shift, "position": frozen.apply(position)}


def _labelled(scores: LabelledArray, parts: dict[str, Tensor]) -> dict[str, LabelledArray]:
    return {
        name: LabelledArray(f"{scores.name}.{name}", values.numpy(), scores.axes, "nats", name.replace("_", " · "))
        for name, values in parts.items()
    }

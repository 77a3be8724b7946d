"""Views of attention: who looked at whom, and why."""

from dataclasses import replace

import numpy
import torch

from pellucid.errors import UserError
from pellucid.inspection import positional_encodings
from pellucid.inspection.alignment import alignment
from pellucid.inspection.attention import keys_for_mass, special_token_weight
from pellucid.inspection.labelled_array import Array, Axis, LabelledArray
from pellucid.inspection.look import Look
from pellucid.inspection.score_decomposition import decompose_scores, explained_variance, scores_by_offset
from pellucid.inspection.structure import attentions
from pellucid.inspection.views.charts import bars, heat_map, lines, links
from pellucid.inspection.views.view import View, ViewRequest, chosen_head, chosen_layer
from pellucid.layers.positions import Rotary

MOST_LINKED = 20  # tokens between which lines are drawn

__all__ = ["alignment_view", "attention_view", "links_view", "mass_view", "positions_view", "score_parts_view"]


def attention_view(request: ViewRequest, stack: str, part: str) -> View:
    """Make the view."""
    look = request.look
    found = [one for one in attentions(look.model) if (one.stack, one.sublayer) == (stack, part)]
    if not found:
        raise UserError(
            f"the model has no {part.replace('_', '-')} in its {stack}",
            where="--view",
            hint="Run `pellucid look --list` to see the views and the models that they suit.",
        )
    layer = chosen_layer(request, len(found))
    name = found[layer].name
    weights, scores = look.require(f"{name}.weights", f"{name}.scores")
    head = chosen_head(request, len(weights))
    allowed = look.mask(name)
    masked = numpy.where(allowed, scores.values.astype(numpy.float64), -numpy.inf)
    highest = masked.max(-1, keepdims=True)
    total = highest + numpy.log(numpy.exp(masked - highest).sum(-1, keepdims=True))
    shown = "datum.s === null ? 'not computed' : 'exp(' + format(datum.s, '.4f') + ' − ' + format(datum.z, '.4f') + ')'"
    formula = f"datum.m ? {shown} + '  (score − log Σ exp scores)' : '0: masked'"
    extra = {"s": scores.values, "z": total, "m": allowed.astype(numpy.float32)}
    return View(
        "",
        "",
        f"{name}, {look.inspected.precision}: each row is a query and sums to 1, each column is a key; not rescaled.",
        (weights, scores),
        lambda: heat_map(weights, chosen=head, extra=extra, formula=formula),
    )


def alignment_view(request: ViewRequest) -> View:
    """Make the view."""
    weights = alignment(request.look, _asked_heads(request))
    log_probs = _following_log_probs(request.look)
    reading = "Each row is a token of the translation, as it was about to be written; a column is a token of the source"
    return View("", "", f"{reading}: {weights.meaning}.", (weights, *log_probs), lambda: heat_map(weights))


def links_view(request: ViewRequest) -> View:
    """Make the view."""
    look = request.look
    if look.source:
        weights, reading = alignment_view(request).arrays[0], "Above the source, below what was about to be written"
    else:
        layer = chosen_layer(request, len(look.stack("decoder").blocks))
        (every,) = look.require(f"decoder.{layer}.self_attention.weights")
        weights = every.mean("heads") if request.head is None else every[chosen_head(request, len(every))]
        reading = "Above who is looked at, below who looks"
    longest = max(weights.shape)
    if longest > MOST_LINKED:
        raise UserError(
            f"lines between {longest} tokens cannot be told apart: at most {MOST_LINKED}",
            where="--view links",
            hint="The view alignment shows the same as cells." if look.source else "The view decoder-attention does.",
        )
    return View("", "", f"{reading}; {weights.meaning}.", (weights,), lambda: links(weights))


def mass_view(request: ViewRequest) -> View:
    """Make the view."""
    look = request.look
    part = "cross_attention" if look.source else "self_attention"
    layer = chosen_layer(request, len(look.stack("decoder").blocks))
    name = f"decoder.{layer}.{part}"
    counts, share = keys_for_mass(look, name), special_token_weight(look, name)
    reading = f"{name}: how few keys hold nine tenths of a row's weight; many means that the head spreads itself."
    return View("", "", reading, (counts, share), lambda: heat_map(counts))


def score_parts_view(request: ViewRequest) -> View:
    """Make the view."""
    look = request.look
    stack = "encoder" if look.source else "decoder"
    layer = chosen_layer(request._replace(layer=request.layer or 0), len(look.stack(stack).blocks))
    name = f"{stack}.{layer}.self_attention"
    where = look.attention(name)
    head = chosen_head(request, where.module.n_heads)
    if isinstance(where.module.positions, Rotary):
        place = len(look.tokens_on(where.query_side)) // 2
        curve = scores_by_offset(look, name, place, place)
        curve = curve if request.head is None else curve[head : head + 1]
        reading = (
            "Rotary positions turn queries and keys: a score is a function of how far apart they stand (query − key), "
            "here of one token's query for its own key. A line a head."
        )
        return View("", "", reading, (curve,), lambda: lines(curve))
    parts = decompose_scores(look, name)
    shares = explained_variance(parts, look.mask(name))
    axis = Axis("part", (*(part.replace("_", " · ") for part in parts.parts), "score"))
    values = numpy.stack([*(part.values[head] for part in parts.parts.values()), parts.scores.values[head]])
    shown = LabelledArray(
        f"{name}.heads.{head}.score_parts",
        values,
        (axis, *parts.scores.axes[1:]),
        "nats",
        "parts of the score and the score",
    )
    reading = f"{name}, head {head}: the parts add up to the score (off by {parts.error:.1g}); {parts.note}."
    return View("", "", reading, (shown, shares), lambda: heat_map(shown, chosen=len(axis.labels) - 1, columns=5))


def positions_view(request: ViewRequest) -> View:
    """Make the view."""
    look = request.look
    count = min(64, max(16, len(look.target), len(look.source)))
    stack = "encoder" if look.source else "decoder"
    if look.require(look.stack(stack).position_tap)[0].axes:
        table = positional_encodings.encodings(look.model, count, stack)
        products = positional_encodings.encoding_products(look.model, count, stack)
        return View(
            "", "", "The codes that are added to the embeddings: a row a position, a column a dimension.",
            (table, products), lambda: heat_map(table),
        )  # fmt: skip
    if any(isinstance(one.module.positions, Rotary) for one in attentions(look.model)):
        angles = positional_encodings.rotary_angles(look.model, count)
        rotated = replace(
            angles, name="rotary_cosines", values=numpy.cos(angles.values), unit="–", meaning="cos of the angle"
        )
        return View(
            "", "", "Each pair of coordinates is turned by position · frequency: here the cosine of that angle.",
            (rotated, angles), lambda: heat_map(rotated),
        )  # fmt: skip
    slopes = positional_encodings.alibi_slopes(look.model)
    return View("", "", "ALiBi takes slope · distance off every score.", (slopes,), lambda: bars(slopes))


def _asked_heads(request: ViewRequest) -> list[tuple[int, int]] | None:
    """Return the heads of cross-attention that are meant, all of a layer if only that is given; None if none is."""
    found = [one for one in attentions(request.look.model) if one.sublayer == "cross_attention"]
    if not found or (request.layer is None and request.head is None):
        return None
    layer = chosen_layer(request, len(found))
    count = found[layer].module.n_heads
    return [(layer, head) for head in (range(count) if request.head is None else [chosen_head(request, count)])]


def _following_log_probs(look: Look) -> list[LabelledArray]:
    """Return the log-probability of each token that follows, if logits were recorded."""
    if "logits" not in look:
        return []
    ids = torch.tensor(look.encoded.next_tokens, dtype=torch.int64)
    log_probs: Array = (
        torch.from_numpy(look.logits.values).log_softmax(-1)[: len(ids)].gather(-1, ids[:, None])[:, 0].numpy()
    )
    axis = Axis("next_tokens", tuple(token.display for token in look.next_tokens))
    return [LabelledArray("log_probs", log_probs, (axis,), "nats", "log-probability of each token of the target")]

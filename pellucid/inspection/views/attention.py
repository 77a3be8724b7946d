"""Views of attention: which token attends to which, and why."""

from dataclasses import replace

import numpy

from pellucid.errors import UserError
from pellucid.inspection import positional_encodings
from pellucid.inspection.alignment import attention_alignment
from pellucid.inspection.attention import keys_for_mass, position_bias, special_token_weight
from pellucid.inspection.labelled_array import Axis, LabelledArray
from pellucid.inspection.score_decomposition import decompose_scores, explained_variance, scores_by_offset
from pellucid.inspection.structure import attentions
from pellucid.inspection.views.charts import bars, heat_map, lines, links
from pellucid.inspection.views.view import View, ViewRequest, chosen_head, chosen_layer

__all__ = ["alignment_view", "attention_view", "links_view", "mass_view", "positions_view", "score_parts_view"]

MOST_LINKED = 20  # tokens between which lines can be told apart

# Vega expression of the hover: the weight as exp(score − log Σ exp scores), from the fields s, z and m of a cell.
_FORMULA = (
    "datum.m ? (datum.s === null ? 'not computed' : "
    "'exp(' + format(datum.s, '.4f') + ' − ' + format(datum.z, '.4f') + ')') "
    "+ '  (score − log Σ exp scores)' : '0: masked'"
)


def attention_view(request: ViewRequest, stack: str, sublayer: str) -> View:
    """Draw the weights of every head of an attention."""
    look = request.look
    sites = [site for site in attentions(look.model) if (site.stack, site.sublayer) == (stack, sublayer)]
    if not sites:
        raise UserError(
            f"the model has no {sublayer.replace('_', '-')} in its {stack}", where="--view", hint="Choose another view."
        )
    name = sites[chosen_layer(request, len(sites))].name
    weights, scores = look.require(f"{name}.weights", f"{name}.scores")
    head = chosen_head(request, len(weights))
    allowed = look.mask(name)
    masked = numpy.where(allowed, scores.values.astype(numpy.float64), -numpy.inf)
    highest = masked.max(-1, keepdims=True)
    log_sum = highest + numpy.log(numpy.exp(masked - highest).sum(-1, keepdims=True))
    extra = {"s": scores.values, "z": log_sum, "m": allowed.astype(numpy.float32)}
    return View(
        f"{name}, {look.inspected.precision}: each row is a query and sums to 1, each column is a key.",
        (weights, scores),
        lambda: heat_map(weights, selected=head, extra=extra, formula=_FORMULA),
    )


def alignment_view(request: ViewRequest) -> View:
    """Draw cross-attention when each token was predicted."""
    look = request.look
    weights = attention_alignment(look, _requested_heads(request))
    arrays = [weights]
    if "logits" in look.arrays:
        meaning = "log-probability of each next token"
        arrays.append(LabelledArray("log_probs", look.next_log_probs(), (look.next_token_axis(),), "nats", meaning))
    reading = "Each row is a token of the translation when it was predicted, each column a token of the source"
    return View(f"{reading}: {weights.meaning}.", tuple(arrays), lambda: heat_map(weights))


def links_view(request: ViewRequest) -> View:
    """Draw attention as lines between a few tokens."""
    look = request.look
    if look.source:
        weights = attention_alignment(look, _requested_heads(request))
        reading, other = "Above the source, below the predicted tokens", "alignment"
    else:
        layer = chosen_layer(request, len(look.stack("decoder").blocks))
        (heads,) = look.require(f"decoder.{layer}.self_attention.weights")
        weights = heads.mean("heads") if request.head is None else heads[chosen_head(request, len(heads))]
        reading, other = "Above the keys, below the queries", "decoder-attention"
    longest = max(weights.shape)
    if longest > MOST_LINKED:
        raise UserError(
            f"lines between {longest} tokens cannot be told apart: at most {MOST_LINKED}",
            where="--view links",
            hint=f"The view {other} shows the same as cells.",
        )
    return View(f"{reading}; {weights.meaning}.", (weights,), lambda: links(weights))


def mass_view(request: ViewRequest) -> View:
    """Draw how many keys hold most of each row's weight."""
    look = request.look
    sublayer = "cross_attention" if look.source else "self_attention"
    name = f"decoder.{chosen_layer(request, len(look.stack('decoder').blocks))}.{sublayer}"
    counts, sinks = keys_for_mass(look, name), special_token_weight(look, name)
    reading = f"{name}: the number of keys that hold 90 % of a row's weight; many: the head spreads its attention."
    return View(reading, (counts, sinks), lambda: heat_map(counts))


def score_parts_view(request: ViewRequest) -> View:
    """Draw the parts of a head's scores, or with rotary positions a score by distance."""
    look = request.look
    stack = "encoder" if look.source else "decoder"
    layer = chosen_layer(request._replace(layer=request.layer or 0), len(look.stack(stack).blocks))
    name = f"{stack}.{layer}.self_attention"
    site = look.attention(name)
    head = chosen_head(request, site.module.n_heads)
    if site.module.positions.kind != "none" and position_bias(look, site) is None and not look.edits:
        return _scores_by_offset_view(request, name, head)
    found = decompose_scores(look, name)
    shares = explained_variance(found, look.mask(name))
    axis = Axis("part", (*(part.replace("_", " · ") for part in found.parts), "score"))
    values = numpy.stack([*(part.values[head] for part in found.parts.values()), found.scores.values[head]])
    axes = (axis, *found.scores.axes[1:])
    shown = LabelledArray(f"{name}.heads.{head}.score_parts", values, axes, "nats", "parts of the score, and the score")
    reading = f"{name}, head {head}: the parts add up to the score (error {found.error:.1g}); {found.note}."
    return View(reading, (shown, shares), lambda: heat_map(shown, selected=len(axis.labels) - 1, columns=5))


def _scores_by_offset_view(request: ViewRequest, name: str, head: int) -> View:
    look = request.look
    middle = len(look.tokens_on(look.attention(name).query_side)) // 2
    curve = scores_by_offset(look, name, middle, middle)
    curve = curve if request.head is None else curve[head : head + 1]
    reading = (
        "Rotary positions rotate queries and keys: a score depends on the distance query − key. Here the query of one "
        "token with its own key, a line for each head."
    )
    return View(reading, (curve,), lambda: lines(curve))


def positions_view(request: ViewRequest) -> View:
    """Draw the numbers by which the model tells positions apart: encodings, angles or slopes."""
    look = request.look
    count = min(64, max(16, len(look.target), len(look.source)))
    table, caption = positional_encodings.position_table(look.model, count, "encoder" if look.source else "decoder")
    if len(table.axes) == 1:
        return View(caption, (table,), lambda: bars(table))
    if table.unit != "radians":
        return View(caption, (table,), lambda: heat_map(table))
    cosines = replace(
        table, name="rotary_cosines", values=numpy.cos(table.values), unit="–", meaning="cosine of the angle"
    )
    return View(f"{caption} Shown is the cosine of the angle.", (cosines, table), lambda: heat_map(cosines))


def _requested_heads(request: ViewRequest) -> list[tuple[int, int]] | None:
    """Return the requested heads of cross-attention, all of a layer if only that is given; None if neither is."""
    sites = [site for site in attentions(request.look.model) if site.sublayer == "cross_attention"]
    if not sites or (request.layer is None and request.head is None):
        return None
    layer = chosen_layer(request, len(sites))
    count = sites[layer].module.n_heads
    return [(layer, head) for head in (range(count) if request.head is None else [chosen_head(request, count)])]

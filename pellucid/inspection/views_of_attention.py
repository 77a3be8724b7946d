"""Views of attention: who looked at whom, and why."""

from dataclasses import replace

import numpy
import torch

from pellucid.errors import UserError
from pellucid.inspection import positions
from pellucid.inspection.alignment import alignment
from pellucid.inspection.anatomy import attentions
from pellucid.inspection.attention import covering, special_share
from pellucid.inspection.charts import bars, heat_map, lines, links
from pellucid.inspection.labelled import Array, Axis, LabelledArray
from pellucid.inspection.look import Look
from pellucid.inspection.score_parts import by_offset, score_parts, variance_shares
from pellucid.inspection.view import Asked, View, head_of, layer_of
from pellucid.layers.rotary import Rotary

MOST_LINKED = 20  # tokens between which lines are drawn

__all__ = ["alignment_view", "attention_view", "links_view", "mass_view", "positions_view", "score_parts_view"]


def attention_view(asked: Asked, stack: str, part: str) -> View:
    """Make the view."""
    look = asked.look
    found = [one for one in attentions(look.model) if (one.stack, one.part) == (stack, part)]
    if not found:
        raise UserError(f"the model has no {part.replace('_', '-')} in its {stack}", where="--view")
    layer = layer_of(asked, len(found))
    name = found[layer].name
    weights, scores = look.need(f"{name}.weights", f"{name}.scores")
    head = head_of(asked, len(weights))
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
        f"{name}, {look.subject.precision}: each row is a query and sums to 1; a column is a key. Nothing is rescaled.",
        (weights, scores),
        lambda: heat_map(weights, chosen=head, extra=extra, formula=formula),
    )


def alignment_view(asked: Asked) -> View:
    """Make the view."""
    weights = alignment(asked.look, _asked_heads(asked))
    log_probs = _following_log_probs(asked.look)
    reading = "Each row is a token of the translation, as it was about to be written; a column is a token of the source"
    return View("", "", f"{reading}: {weights.meaning}.", (weights, *log_probs), lambda: heat_map(weights))


def links_view(asked: Asked) -> View:
    """Make the view."""
    look = asked.look
    if look.source:
        weights, reading = alignment_view(asked).arrays[0], "Above the source, below what was about to be written"
    else:
        layer = layer_of(asked, len(look.stack("decoder").blocks))
        (every,) = look.need(f"decoder.{layer}.self_attention.weights")
        weights = every.mean("heads") if asked.head is None else every[head_of(asked, len(every))]
        reading = "Above who is looked at, below who looks"
    longest = max(weights.shape)
    if longest > MOST_LINKED:
        raise UserError(
            f"lines between {longest} tokens cannot be told apart: at most {MOST_LINKED}",
            where="--view links",
            hint="The view alignment shows the same as cells." if look.source else "The view decoder-attention does.",
        )
    return View("", "", f"{reading}; {weights.meaning}.", (weights,), lambda: links(weights))


def mass_view(asked: Asked) -> View:
    """Make the view."""
    look = asked.look
    part = "cross_attention" if look.source else "self_attention"
    layer = layer_of(asked, len(look.stack("decoder").blocks))
    name = f"decoder.{layer}.{part}"
    counts, share = covering(look, name), special_share(look, name)
    reading = f"{name}: how few keys hold nine tenths of a row's weight; many means that the head spreads itself."
    return View("", "", reading, (counts, share), lambda: heat_map(counts))


def score_parts_view(asked: Asked) -> View:
    """Make the view."""
    look = asked.look
    stack = "encoder" if look.source else "decoder"
    layer = layer_of(asked._replace(layer=asked.layer or 0), len(look.stack(stack).blocks))
    name = f"{stack}.{layer}.self_attention"
    where = look.attention(name)
    head = head_of(asked, where.module.n_heads)
    if isinstance(where.module.turn, Rotary):
        place = len(look.tokens_on(where.query_side)) // 2
        curve = by_offset(look, name, place, place)
        curve = curve if asked.head is None else curve[head : head + 1]
        reading = (
            "Rotary positions turn queries and keys: a score is a function of how far apart they stand (query − key), "
            "here of one token's query for its own key. A line a head."
        )
        return View("", "", reading, (curve,), lambda: lines(curve))
    parts = score_parts(look, name)
    shares = variance_shares(parts, look.mask(name))
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


def positions_view(asked: Asked) -> View:
    """Make the view."""
    look = asked.look
    count = min(64, max(16, len(look.target), len(look.source)))
    stack = "encoder" if look.source else "decoder"
    if look.need(look.stack(stack).position_tap)[0].axes:
        table = positions.codes(look.model, count, stack)
        products = positions.code_products(look.model, count, stack)
        return View(
            "", "", "The codes that are added to the embeddings: a row a position, a column a dimension.",
            (table, products), lambda: heat_map(table),
        )  # fmt: skip
    if any(isinstance(one.module.turn, Rotary) for one in attentions(look.model)):
        angles = positions.rotary_angles(look.model, count)
        turned = replace(
            angles, name="rotary_cosines", values=numpy.cos(angles.values), unit="–", meaning="cos of the angle"
        )
        return View(
            "", "", "Each pair of coordinates is turned by position · frequency: here the cosine of that angle.",
            (turned, angles), lambda: heat_map(turned),
        )  # fmt: skip
    slopes = positions.alibi_slopes(look.model)
    return View("", "", "ALiBi takes slope · distance off every score.", (slopes,), lambda: bars(slopes))


def _asked_heads(asked: Asked) -> list[tuple[int, int]] | None:
    """Return the heads of cross-attention that are meant, all of a layer if only that is given; None if none is."""
    found = [one for one in attentions(asked.look.model) if one.part == "cross_attention"]
    if not found or (asked.layer is None and asked.head is None):
        return None
    layer = layer_of(asked, len(found))
    count = found[layer].module.n_heads
    return [(layer, head) for head in (range(count) if asked.head is None else [head_of(asked, count)])]


def _following_log_probs(look: Look) -> list[LabelledArray]:
    """Return the log-probability of each token that follows, if logits were recorded."""
    if "logits" not in look:
        return []
    ids = torch.tensor(look.written.following, dtype=torch.int64)
    log_probs: Array = (
        torch.from_numpy(look.logits.values).log_softmax(-1)[: len(ids)].gather(-1, ids[:, None])[:, 0].numpy()
    )
    axis = Axis("following", tuple(token.display for token in look.following))
    return [LabelledArray("log_probs", log_probs, (axis,), "nats", "log-probability of each token of the target")]

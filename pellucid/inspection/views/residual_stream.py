"""Views of the residual stream: what it holds, layer by layer, and what a text would teach."""

import numpy

from pellucid.inspection.gradients import gradients, saturation
from pellucid.inspection.labelled_array import LabelledArray
from pellucid.inspection.lens import logit_lens
from pellucid.inspection.residual_decomposition import decompose_residual, direct_logit_attribution
from pellucid.inspection.residual_streams import effective_rank, token_identity
from pellucid.inspection.views.charts import bars, heat_map, lines, token_grid
from pellucid.inspection.views.view import View, ViewRequest, ViewTable, chosen_layer

__all__ = [
    "effect_view",
    "gradients_view",
    "identity_view",
    "lens_view",
    "rank_view",
    "residual_view",
    "saturation_view",
]


def residual_view(request: ViewRequest) -> View:
    """Make the view."""
    layer = chosen_layer(request, len(request.look.stack("decoder").blocks))
    given = decompose_residual(request.look, "decoder", layer + 1)
    norms = LabelledArray(
        "decoder.contributions.norm", numpy.linalg.norm(given.parts.values, axis=-1), given.parts.axes[:2], "length",
        "length of what each part added",
    )  # fmt: skip
    reading = (
        f"What each part, up to layer {layer}, added to the decoder's stream at each token; they add up to it (off by "
        f"{given.error:.1g})."
    )
    return View("", "", reading, (norms,), lambda: heat_map(norms))


def effect_view(request: ViewRequest) -> View:
    """Make the view."""
    effect = direct_logit_attribution(request.look)
    reading = "What each part gives straight to the logit of the token that follows; a column sums to the logit."
    return View("", "", reading, (effect,), lambda: heat_map(effect))


def lens_view(request: ViewRequest) -> View:
    """Make the view."""
    found = logit_lens(request.look)
    names = request.look.inspected.vocabulary.labels
    tokens = [[names[i] for i in row] for row in found.top.values[..., 0].tolist()]
    best = found.top_log_probs[..., 0]
    table = ViewTable(
        ["layer", *(token.display for token in request.look.target)],
        [[layer, *row] for layer, row in zip(reversed(best.labels("layer")), reversed(tokens), strict=True)],
    )
    reading = "What would be written next if the stream were read out after each layer, through that layer's own norm."
    return View(
        "",
        "",
        reading,
        (best, found.next_log_probs, found.entropy),
        lambda: token_grid(tokens, best, upwards=True),
        table,
    )


def identity_view(request: ViewRequest) -> View:
    """Make the view."""
    found = token_identity(request.look, "encoder" if request.look.source else "decoder")
    reading = "How much of the word is left in its state: cosine with its own embedding, layer by layer."
    return View("", "", reading, (found.cosine, found.rank), lambda: heat_map(found.cosine))


def rank_view(request: ViewRequest) -> View:
    """Make the view."""
    found = effective_rank(request.look, "encoder" if request.look.source else "decoder")
    reading = "How many directions the states of this text use: exp of the entropy of their singular values."
    return View("", "", reading, (found,), lambda: lines(found))


def saturation_view(request: ViewRequest) -> View:
    """Make the view."""
    found = saturation(request.look)
    greatest = found.at(figure="greatest")
    reading = "The largest weight of a row, mean over heads and queries with a choice; at 1 no gradient passes."
    return View("", "", reading, (found,), lambda: bars(greatest))


def gradients_view(request: ViewRequest) -> View:
    """Make the view."""
    found = gradients(request.look)
    reading = f"Length of the gradient of this text's loss ({found.loss:.3f} nats a token), layer by layer."
    arrays = (found.by_layer, found.norms, found.touched, found.rows)
    return View("", "", reading, arrays, lambda: bars(found.by_layer))

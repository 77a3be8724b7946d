"""Views of the residual stream, layer by layer, and of what a text would teach."""

import numpy

from pellucid.inspection.gradients import gradients, saturation
from pellucid.inspection.labelled_array import LabelledArray
from pellucid.inspection.lens import logit_lens
from pellucid.inspection.residual_decomposition import decompose_residual, direct_logit_attribution
from pellucid.inspection.residual_streams import effective_rank, token_identity
from pellucid.inspection.views.charts import bars, heat_map, lines, token_grid
from pellucid.inspection.views.view import View, ViewRequest, ViewTable, chosen_layer

__all__ = [
    "effective_rank_view",
    "gradients_view",
    "logit_attribution_view",
    "logit_lens_view",
    "residual_view",
    "saturation_view",
    "token_identity_view",
]


def residual_view(request: ViewRequest) -> View:
    """Draw the length of what each part adds to the decoder's residual stream."""
    layer = chosen_layer(request, len(request.look.stack("decoder").blocks))
    found = decompose_residual(request.look, "decoder", layer + 1)
    lengths = numpy.linalg.norm(found.parts.values, axis=-1)
    axes, meaning = found.parts.axes[:2], "length of what each part adds"
    norms = LabelledArray("decoder.residual_decomposition.norm", lengths, axes, "length", meaning)
    reading = (
        f"What each part up to layer {layer} adds to the decoder's residual stream at each token; the parts add up to "
        f"it (error {found.error:.1g})."
    )
    return View(reading, (norms,), lambda: heat_map(norms))


def logit_attribution_view(request: ViewRequest) -> View:
    """Draw the direct effect of each part on the logit of the next token."""
    effect = direct_logit_attribution(request.look)
    reading = "The direct effect of each part on the logit of the next token; each column sums to the logit."
    return View(reading, (effect,), lambda: heat_map(effect))


def logit_lens_view(request: ViewRequest) -> View:
    """Draw the prediction after each layer."""
    found = logit_lens(request.look)
    names = request.look.inspected.vocabulary.labels
    tokens = [[names[i] for i in row] for row in found.top.values[..., 0].tolist()]
    best = found.top_log_probs[..., 0]
    table = ViewTable(
        ["layer", *(token.display for token in request.look.target)],
        [[layer, *row] for layer, row in zip(reversed(best.labels("layer")), reversed(tokens), strict=True)],
    )
    reading = "The most probable next token if the model stopped after each layer, through that layer's own norm."
    arrays = (best, found.next_log_probs, found.entropy)
    return View(reading, arrays, lambda: token_grid(tokens, best, upwards=True), table)


def token_identity_view(request: ViewRequest) -> View:
    """Draw how similar each state is to its token's embedding."""
    found = token_identity(request.look)
    reading = "How much of each token is left in its state: cosine with its own embedding, layer by layer."
    return View(reading, (found.cosine, found.rank), lambda: heat_map(found.cosine))


def effective_rank_view(request: ViewRequest) -> View:
    """Draw how many dimensions the states use."""
    found = effective_rank(request.look)
    reading = "How many dimensions the states of this text use: exp of the entropy of their singular values."
    return View(reading, (found,), lambda: lines(found))


def saturation_view(request: ViewRequest) -> View:
    """Draw how saturated the softmaxes are."""
    found = saturation(request.look)
    greatest = found.at(figure="greatest")
    reading = "The largest weight of a row, mean over heads and queries; at 1 no gradient passes through the softmax."
    return View(reading, (found,), lambda: bars(greatest))


def gradients_view(request: ViewRequest) -> View:
    """Draw the gradient of each layer."""
    found = gradients(request.look)
    reading = f"Norm of the gradient of this text's loss ({found.loss:.3f} nats per token), layer by layer."
    arrays = (found.by_layer, found.norms, found.nonzero_rows, found.rows)
    return View(reading, arrays, lambda: bars(found.by_layer))

"""What one text would teach: the gradient of each matrix, the embedding rows it reaches, saturated softmaxes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy
import torch
from torch import Tensor, nn

from pellucid.errors import UserError
from pellucid.inspection.labelled_array import Axis, LabelledArray
from pellucid.inspection.recording import RecordedRun, TokenizedText, padded_ids
from pellucid.inspection.structure import attentions

__all__ = ["Gradients", "gradients", "saturation"]


class Gradients(NamedTuple):
    """The gradient of one text's loss.

    Attributes:
        loss: cross-entropy of the next tokens, without label smoothing; nats per token.
        norms: of the gradient of each matrix, by the names of model.safetensors, [matrix].
        by_layer: of all matrices of a layer together, [layer]; embeddings and last norms have their own entries.
        nonzero_rows: rows of each embedding matrix whose gradient is not zero, [matrix].
        rows: all rows of these matrices, [matrix].
    """

    loss: float
    norms: LabelledArray
    by_layer: LabelledArray
    nonzero_rows: LabelledArray
    rows: LabelledArray


def gradients(look: RecordedRun) -> Gradients:
    """Compute the gradient of the loss of a look's text, without dropout; the weights do not change.

    Where embeddings are tied to the output, every row has a gradient: the softmax pushes all tokens down.

    Raises:
        UserError: for an edited look, or a text with nothing to predict.
    """
    if look.edits:
        raise UserError("gradients are those of an unedited run", where="look", hint="Leave the edits out.")
    model = look.model
    ids = torch.tensor(look.encoded.next_tokens, device=next(model.parameters()).device)
    if not len(ids):
        raise UserError("a text of one token leaves nothing to predict", where="look", hint="Look at a longer text.")
    loss, by_name = _backpropagate(model, look.encoded, ids)
    layers: dict[str, float] = {}
    for name, gradient in by_name.items():
        words = name.split(".")
        layer = ".".join(words[:2]) if words[1].isdigit() else words[0]
        layers[layer] = layers.get(layer, 0.0) + float(gradient.norm()) ** 2
    embeddings = {name: gradient for name, gradient in by_name.items() if name.endswith("embedding.weight")}
    norms = {name: float(gradient.norm()) for name, gradient in by_name.items()}
    layer_norms = {layer: square**0.5 for layer, square in layers.items()}
    nonzero = {name: float((g != 0).any(-1).sum()) for name, g in embeddings.items()}
    rows = {name: float(len(g)) for name, g in embeddings.items()}
    return Gradients(
        loss,
        _labelled("gradients", norms, "matrix", "norm of the gradient"),
        _labelled("gradients.by_layer", layer_norms, "layer", "norm of a layer's gradient"),
        _labelled("gradients.nonzero_rows", nonzero, "matrix", "rows with a gradient"),
        _labelled("gradients.rows", rows, "matrix", "rows of the embedding"),
    )


def saturation(look: RecordedRun) -> LabelledArray:
    """Measure how saturated each attention's softmax is, [attention figure]: means over heads and queries.

    `greatest` is the largest weight of a row; `slope` is the mean of Σ w (1 − w), the trace of the softmax's Jacobian,
    near 0 where almost no gradient passes; `entropy` is in nats. Rows with a single unmasked key are left out: their
    weight is 1 whatever the scores. Attentions whose weights were not recorded are left out.
    """
    names, rows = [], []
    for site in attentions(look.model):
        if f"{site.name}.weights" not in look.arrays:
            continue
        has_choice = look.mask(site.name).sum(-1) > 1
        weights = look.tensor(f"{site.name}.weights")[:, torch.from_numpy(has_choice)]
        if not weights.numel():
            continue
        names.append(site.name)
        entropy = -(weights * weights.clamp(min=1e-300).log()).sum(-1).mean()
        slope = (weights * (1 - weights)).sum(-1).mean()
        rows.append([float(weights.amax(-1).mean()), float(slope), float(entropy)])
    if not rows:
        look.require("encoder.0.self_attention.weights" if look.source else "decoder.0.self_attention.weights")
    axes = (Axis("attention", tuple(names)), Axis("figure", ("greatest", "slope", "entropy")))
    values = numpy.array(rows).reshape(len(names), 3)
    return LabelledArray("saturation", values, axes, "–", "saturation of the softmaxes")


def _backpropagate(model: nn.Module, text: TokenizedText, ids: Tensor) -> tuple[float, dict[str, Tensor]]:
    """Compute the loss of the next tokens and the gradient of every weight, float64; unused weights have a 0."""
    weights = dict(model.named_parameters())
    frozen = [weight for weight in weights.values() if not weight.requires_grad]
    with torch.enable_grad():
        for weight in weights.values():
            weight.requires_grad_(True)
        try:
            logits = model(*padded_ids(model, [text]))
            loss = torch.nn.functional.cross_entropy(logits[0, : len(ids)].float(), ids)
            found: Sequence[Tensor | None] = torch.autograd.grad(loss, list(weights.values()), allow_unused=True)
        finally:
            for weight in frozen:
                weight.requires_grad_(False)
    by_name = {name: torch.zeros(1) if g is None else g.double().cpu() for name, g in zip(weights, found, strict=True)}
    return float(loss.detach()), by_name


def _labelled(name: str, values: dict[str, float], axis: str, meaning: str) -> LabelledArray:
    return LabelledArray(name, numpy.array(list(values.values())), (Axis(axis, tuple(values)),), "–", meaning)

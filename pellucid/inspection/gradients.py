"""What one text would teach: gradients matrix by matrix, embedding rows touched, saturated softmaxes."""

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy
import torch
from torch import Tensor

from pellucid.errors import UserError
from pellucid.inspection.labelled_array import Axis, LabelledArray
from pellucid.inspection.recorded_run import RecordedRun
from pellucid.inspection.recording import pad_batch
from pellucid.inspection.structure import attentions
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.encoder_decoder import EncoderDecoder

__all__ = ["Gradients", "gradients", "saturation"]


class Gradients(NamedTuple):
    """The gradient of the loss of one text.

    Attributes:
        loss: cross-entropy of the tokens that follow, without label smoothing; nats a token.
        norms: of each matrix's gradient, by the names of model.safetensors, [matrix].
        by_layer: of all of a layer's matrices together, [layer]; embeddings and last norms are entries of their own.
        touched: how many rows of each embedding matrix have a gradient that is not zero, [matrix].
        rows: how many rows these matrices have, [matrix].
    """

    loss: float
    norms: LabelledArray
    by_layer: LabelledArray
    touched: LabelledArray
    rows: LabelledArray


def gradients(look: RecordedRun) -> Gradients:
    """Return the gradient of a look's text and target, without dropout.

    Where embeddings are tied to the output, every row gets a gradient: the softmax pushes all tokens down. The weights
    are not changed.

    Args:
        look: unedited; of its numbers none is needed.

    Raises:
        UserError: for an edited look, or one with nothing to predict.
    """
    if look.edits:
        raise UserError("gradients are taken of plain runs", where="look", hint="Leave the edits out.")
    model = look.model
    given = look.input
    ids = torch.tensor(look.encoded.next_tokens, device=next(model.parameters()).device)
    if not len(ids):
        raise UserError(
            "a text of one token leaves nothing to predict",
            where="look",
            hint="Give a text of at least two tokens.",
        )
    weights = dict(model.named_parameters())
    frozen = [name for name, weight in weights.items() if not weight.requires_grad]
    with torch.enable_grad():
        for weight in weights.values():
            weight.requires_grad_(True)
        try:
            target = pad_batch(model, given.target)
            if isinstance(model, EncoderDecoder):
                logits = model(pad_batch(model, given.source), target)
            else:
                logits = cast(DecoderOnly, model)(target)
            loss = torch.nn.functional.cross_entropy(logits[0, : len(ids)].float(), ids)
            found: Sequence[Tensor | None] = torch.autograd.grad(loss, list(weights.values()), allow_unused=True)
        finally:
            for name in frozen:
                weights[name].requires_grad_(False)
    by_name = {name: torch.zeros(()) if g is None else g.double().cpu() for name, g in zip(weights, found, strict=True)}
    layers: dict[str, float] = {}
    for name, gradient in by_name.items():
        words = name.split(".")
        layer = ".".join(words[:2]) if words[1].isdigit() else words[0]
        layers[layer] = layers.get(layer, 0.0) + float(gradient.norm()) ** 2
    tables = {name: g for name, g in by_name.items() if name.endswith("embedding.weight")}
    return Gradients(
        float(loss.detach()),
        _row("gradients", {name: float(g.norm()) for name, g in by_name.items()}, "matrix", "norm of the gradient"),
        _row("gradients.by_layer", {n: v**0.5 for n, v in layers.items()}, "layer", "norm of a layer's gradient"),
        _row("gradients.touched", {n: float(_touched(g)) for n, g in tables.items()}, "matrix", "rows with a gradient"),
        _row("gradients.rows", {n: float(len(g)) for n, g in tables.items()}, "matrix", "rows of the embedding"),
    )


def saturation(look: RecordedRun) -> LabelledArray:
    """Return how decided each attention is, [attention figure]: means over heads and queries that have a choice.

    `greatest` is the largest weight of a row; `slope` is mean Σ w (1 − w), the trace of the softmax's Jacobian: near 0
    next to no gradient passes; `entropy` is in nats. Rows that may look at one key only are left out: they are 1
    whatever the scores.

    Args:
        look: with the weights of the attentions that shall be told of; the others are left out.
    """
    names, rows = [], []
    for one in attentions(look.model):
        if f"{one.name}.weights" not in look.arrays:
            continue
        choice = look.mask(one.name).sum(-1) > 1
        weights = look.tensor(f"{one.name}.weights")[:, torch.from_numpy(choice)]
        if not weights.numel():
            continue
        names.append(one.name)
        entropy = -(weights * weights.clamp(min=1e-300).log()).sum(-1).mean()
        slope = (weights * (1 - weights)).sum(-1).mean()
        rows.append([float(weights.amax(-1).mean()), float(slope), float(entropy)])
    if not rows:
        look.require("encoder.0.self_attention.weights" if look.source else "decoder.0.self_attention.weights")
    axes = (Axis("attention", tuple(names)), Axis("figure", ("greatest", "slope", "entropy")))
    values = numpy.array(rows).reshape(len(names), 3)
    return LabelledArray("saturation", values, axes, "–", "how decided the softmaxes are")


def _touched(gradient: Tensor) -> int:
    return int((gradient != 0).any(-1).sum()) if gradient.ndim > 1 else 0


def _row(name: str, found: dict[str, float], axis: str, meaning: str) -> LabelledArray:
    return LabelledArray(name, numpy.array(list(found.values())), (Axis(axis, tuple(found)),), "–", meaning)

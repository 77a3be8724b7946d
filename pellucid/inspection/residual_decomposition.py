"""The residual stream as a sum: what each part of the model has added to it, and what each addition does to a logit.

In a pre-norm model the stream at any place is the embedding, the position, and what every part before it has put there,
each attention head by head. In a post-norm model every sum is normalised; with each norm at its measured scale all that
came before goes through it piece by piece, and the norms' shifts are a part of their own. So the contributions add up
exactly in both, and so do, through the last norm at its scale, their products with a token's output vector: the logit.

Source:
    Elhage et al. 2021 (A mathematical framework for transformer circuits), for the stream as a sum and the direct
    effect on logits.
"""

from collections.abc import Iterator
from typing import NamedTuple, cast

import numpy
import torch
from torch import Tensor, nn

from pellucid.errors import UserError
from pellucid.inspection.frozen_norm import freeze_norm
from pellucid.inspection.labelled_array import Axis, LabelledArray
from pellucid.inspection.recorded_run import RecordedRun
from pellucid.inspection.structure import Stack, output_weight

__all__ = ["ResidualDecomposition", "decompose_residual", "direct_logit_attribution", "part_names"]

SHIFTS = "norm shifts"


class ResidualDecomposition(NamedTuple):
    """What has been added to a stream, by whom.

    Attributes:
        stack: whose stream.
        parts: [part query d_model]; their sum is `stream`.
        stream: as recorded at the same place, [query d_model].
    """

    stack: str
    parts: LabelledArray
    stream: LabelledArray

    @property
    def error(self) -> float:
        """The largest difference between the sum of the parts and the stream."""
        return float(numpy.abs(self.parts.values.sum(0) - self.stream.values).max(initial=0.0))


def decompose_residual(look: RecordedRun, stack: str = "decoder", layers: int | None = None) -> ResidualDecomposition:
    """Decompose a residual stream into embedding, position, every head and every feed-forward part.

    Args:
        look: with everything but the attention's scores and weights: `head_output`, the parts' outputs, the stream.
        stack: encoder or decoder.
        layers: after how many blocks; all of them unless given; 0 is the stream that the first block reads.

    Raises:
        UserError: for more layers than there are, or if a number that is needed was not recorded.
    """
    place = look.stack(stack)
    layers = len(place.blocks) if layers is None else layers
    if not 0 <= layers <= len(place.blocks):
        raise UserError(
            f"the {stack} has {len(place.blocks)} layers, got {layers}",
            where="layers",
            hint="Count the layers from the first; all of them by default.",
        )
    end = f"{stack}.{layers}.residual.input" if layers < len(place.blocks) else f"{stack}.{layers - 1}.residual.output"
    (stream,) = look.require(end)
    found: dict[str, Tensor] = {place.token_tap: look.tensor(place.token_tap)}
    if look.require(place.position_tap)[0].axes:
        found[place.position_tap] = look.tensor(place.position_tap)
    for layer in range(layers):
        for part in place.sublayers:
            found |= dict(_added(look, place, layer, part))
            if not place.pre_norm:
                _through_norm(found, place.sublayer_norm(layer, part))
    values = torch.stack(list(found.values())).numpy()
    axes = (Axis("part", tuple(found)), stream.axes[0], stream.axes[1])
    parts = LabelledArray(f"{stack}.contributions", values, axes, "–", f"what each part gave to {end}")
    return ResidualDecomposition(stack, parts, stream)


def direct_logit_attribution(look: RecordedRun, token: int | None = None, other: int | None = None) -> LabelledArray:
    """Attribute a token's logit directly to each part of the decoder's last stream, [part query]; nats.

    part · output vector, through the last norm at its measured scale; the norm's shift is a part of its own. The sum
    over the parts is the logit. What a part does by way of later ones counts for those.

    Args:
        look: as for `decompose_residual`.
        token: id whose logit is meant; at each place that of the token which follows there, unless given.
        other: with a second id, the effect on the difference of the two logits.

    Raises:
        UserError: for an id that is not in the vocabulary, or if nobody knows what follows.
    """
    rows = output_weight(look.model).detach()
    for number in (token, other):
        if number is not None and not 0 <= number < len(rows):
            raise UserError(
                f"id {number} is not in the vocabulary of {len(rows)} ids",
                where="token",
                hint="Pass an id of the model's tokenizer.",
            )
    given = decompose_residual(look, "decoder")
    count = given.stream.shape[0] if token is not None else len(look.encoded.next_tokens)
    if not count:
        raise UserError(
            "nothing follows this text, so name a token",
            where="token",
            hint="Pass token, the id of the token to explain.",
        )
    ids = list(look.encoded.next_tokens) if token is None else [token] * count
    vectors = rows[ids].double().cpu() - (0 if other is None else rows[other].double().cpu())
    norm = freeze_norm(look.stack("decoder").norm, torch.from_numpy(given.stream.values))
    effects = (norm.apply(torch.from_numpy(given.parts.values))[:, :count] * vectors).sum(-1)
    names = given.parts.axes[0].labels
    if SHIFTS not in names:  # a post-norm model's last norm has been counted there already
        names, effects = (*names, SHIFTS), torch.cat((effects, (vectors @ norm.shift)[None]))
    pieces = look.inspected.vocabulary.labels
    meaning = f"what each part gives to the logit of {'the token that follows' if token is None else pieces[token]}"
    meaning += "" if other is None else f" over that of {pieces[other]}"
    axes = (Axis("part", names), Axis("query", given.parts.axes[1].labels[:count]))
    return LabelledArray("decoder.direct_logit_attribution", effects.numpy(), axes, "nats", meaning)


def part_names(look: RecordedRun, stack: str) -> list[str]:
    """Return the taps that `decompose_residual` reads."""
    place = look.stack(stack)
    names = [place.token_tap, place.position_tap]
    for layer in range(len(place.blocks)):
        names += [
            f"{stack}.{layer}.{part}.{'head_output' if 'attention' in part else 'output'}" for part in place.sublayers
        ]
        names += [f"{stack}.{layer}.residual.input"]
    return [*names, f"{stack}.{len(place.blocks) - 1}.residual.output"]


def _added(look: RecordedRun, place: Stack, layer: int, part: str) -> Iterator[tuple[str, Tensor]]:
    """Yield what a part puts into the stream: an attention head by head and its bias, a feed-forward part whole."""
    name = f"{place.name}.{layer}.{part}"
    if part == "feed_forward":
        yield name, look.tensor(f"{name}.output")
        return
    output = cast(nn.Linear, getattr(place.blocks[layer], part).output)
    weight = output.weight.detach().double().cpu()
    head_output = look.tensor(f"{name}.head_output")
    for head, columns in enumerate(weight.chunk(len(head_output), dim=1)):
        yield f"{name}.{head}", head_output[head] @ columns.T
    if output.bias is not None:
        yield f"{name}.bias", output.bias.detach().double().cpu().expand(head_output.shape[1], -1)


def _through_norm(found: dict[str, Tensor], norm: object) -> None:
    """Send all that has been added through a norm that follows the sum."""
    whole = torch.stack(list(found.values())).sum(0)
    frozen = freeze_norm(cast(nn.Module, norm), whole)
    for name, part in found.items():
        found[name] = frozen.apply(part)
    if bool(frozen.shift.any()):
        found[SHIFTS] = found.get(SHIFTS, torch.zeros_like(whole)) + frozen.shift

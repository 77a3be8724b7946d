"""The residual stream as a sum of what each part of the model adds, and the effect of each term on a logit.

In a pre-norm model the stream is the embedding, the position encoding, and the output of every sublayer so far, that of
attention head by head. In a post-norm model every sum is normalised: with each norm frozen at its scale, all earlier
terms pass through it one by one, and the shifts of the norms form a term of their own. So the terms add up exactly in
both, and so do, through the frozen last norm, their products with a token's output vector: the logit.

Source:
    Elhage et al. 2021 (A mathematical framework for transformer circuits): the stream as a sum, direct effects on
    logits.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy
import torch
from torch import Tensor, nn

from pellucid.errors import UserError
from pellucid.inspection.labelled_array import Axis, LabelledArray
from pellucid.inspection.recording import RecordedRun
from pellucid.inspection.structure import Stack, output_weight
from pellucid.layers.norms import RMSNorm

__all__ = ["FrozenNorm", "ResidualDecomposition", "decompose_residual", "direct_logit_attribution", "freeze_norm"]

NORM_SHIFTS = "norm shifts"


class FrozenNorm(NamedTuple):
    """A norm frozen at the scale it has for some x: a linear map, through which the terms of a sum pass one by one.

    norm(x) = (x − mean(x)) · scale(x) · weight + shift for LayerNorm; RMSNorm has neither mean nor shift. With scale(x)
    frozen, terms that sum to x are mapped to terms that sum to norm(x) exactly, except for the shift.

    Attributes:
        scale: factor of each position, [... seq 1].
        weight: factor of each dimension, [d_model].
        shift: added at the end, [d_model].
        centres: whether the mean over the dimensions is subtracted first.
    """

    scale: Tensor
    weight: Tensor
    shift: Tensor
    centres: bool

    def apply(self, term: Tensor) -> Tensor:
        """Map a term of x to its term of norm(x), without the shift."""
        if self.centres:
            term = term - term.mean(-1, keepdim=True)
        return term * self.scale * self.weight


def freeze_norm(norm: nn.Module, x: Tensor) -> FrozenNorm:
    """Freeze a norm at the scale it has for `x`, in float64.

    Args:
        norm: LayerNorm, RMSNorm, or the identity where there is no norm.
        x: what is normalised, [... seq d_model].

    Raises:
        TypeError: for another kind of norm.
    """
    x = x.double()
    match norm:
        case nn.LayerNorm():
            scale = torch.rsqrt(x.var(-1, correction=0, keepdim=True) + norm.eps)
            weight = norm.weight.detach().double().cpu()
            bias: Tensor | None = norm.bias  # LayerNorm(bias=False) has none
            shift = torch.zeros_like(weight) if bias is None else bias.detach().double().cpu()
            return FrozenNorm(scale, weight, shift, centres=True)
        case RMSNorm():
            scale = torch.rsqrt(x.square().mean(-1, keepdim=True) + norm.epsilon)
            weight = norm.weight.detach().double().cpu()
            return FrozenNorm(scale, weight, torch.zeros_like(weight), centres=False)
        case nn.Identity():
            ones = torch.ones(x.shape[-1], dtype=torch.float64)
            return FrozenNorm(torch.ones_like(x[..., :1]), ones, torch.zeros_like(ones), centres=False)
    raise TypeError(f"{type(norm).__name__} has no known linear form")


class ResidualDecomposition(NamedTuple):
    """A residual stream as a sum.

    Attributes:
        parts: [part query d_model]; their sum is `stream`.
        stream: as recorded, [query d_model].
    """

    stack: str
    parts: LabelledArray
    stream: LabelledArray

    @property
    def error(self) -> float:
        """The largest difference between the sum of the parts and the stream."""
        return float(numpy.abs(self.parts.values.sum(0) - self.stream.values).max(initial=0.0))


def decompose_residual(look: RecordedRun, stack: str = "decoder", layers: int | None = None) -> ResidualDecomposition:
    """Split a residual stream into embedding, position encoding, every attention head and every feed-forward layer.

    Args:
        look: with the embeddings, head outputs, feed-forward outputs and the residual stream.
        layers: after how many blocks; all of them unless given; 0 is the stream that the first block reads.

    Raises:
        UserError: for more layers than there are, or if an array that is needed was not recorded.
    """
    found = look.stack(stack)
    count = len(found.blocks)
    layers = count if layers is None else layers
    if not 0 <= layers <= count:
        raise UserError(
            f"the {stack} has {count} layers, got {layers}", where="layers", hint=f"Use a number from 0 to {count}."
        )
    end = f"{stack}.{layers}.residual.input" if layers < count else f"{stack}.{layers - 1}.residual.output"
    (stream,) = look.require(end)
    terms: dict[str, Tensor] = {found.token_tap: look.tensor(found.token_tap)}
    if look.require(found.position_tap)[0].axes:
        terms[found.position_tap] = look.tensor(found.position_tap)
    for layer in range(layers):
        for sublayer in found.sublayers:
            terms |= dict(_sublayer_terms(look, found, layer, sublayer))
            if not found.pre_norm:
                _pass_through_norm(terms, found.sublayer_norm(layer, sublayer))
    values = torch.stack(list(terms.values())).numpy()
    axes = (Axis("part", tuple(terms)), *stream.axes)
    name = f"{stack}.residual_decomposition"
    return ResidualDecomposition(stack, LabelledArray(name, values, axes, "–", f"what each part adds to {end}"), stream)


def direct_logit_attribution(look: RecordedRun, token: int | None = None, other: int | None = None) -> LabelledArray:
    """Compute the direct effect of each part of the decoder's residual stream on a token's logit, [part query]; nats.

    part · output vector, through the last norm at its frozen scale; the norm's shift is a part of its own. The sum over
    the parts is the logit. Indirect effects, by way of later layers, are not included.

    Args:
        look: as for `decompose_residual`.
        token: id of the logit; at each position that of the next token, unless given.
        other: a second id, for the effect on the difference of the two logits.

    Raises:
        UserError: for an id that is not in the vocabulary, or if no next token is known.
    """
    weight = output_weight(look.model).detach()
    for number in (token, other):
        if number is not None and not 0 <= number < len(weight):
            raise UserError(
                f"id {number} is not in the vocabulary", where="token", hint=f"Ids are from 0 to {len(weight) - 1}."
            )
    decomposition = decompose_residual(look, "decoder")
    count = decomposition.stream.shape[0] if token is not None else len(look.encoded.next_tokens)
    if not count:
        raise UserError("no token is known to follow this text", where="token", hint="Pass the id of a token.")
    ids = list(look.encoded.next_tokens) if token is None else [token] * count
    vectors = weight[ids].double().cpu() - (0 if other is None else weight[other].double().cpu())
    norm = freeze_norm(look.stack("decoder").norm, torch.from_numpy(decomposition.stream.values))
    effects = (norm.apply(torch.from_numpy(decomposition.parts.values))[:, :count] * vectors).sum(-1)
    names = decomposition.parts.axes[0].labels
    if NORM_SHIFTS not in names:  # in a post-norm model the last norm is already included
        names, effects = (*names, NORM_SHIFTS), torch.cat((effects, (vectors @ norm.shift)[None]))
    vocabulary = look.inspected.vocabulary.labels
    meaning = f"direct effect on the logit of {'the next token' if token is None else vocabulary[token]}"
    meaning += "" if other is None else f" minus that of {vocabulary[other]}"
    axes = (Axis("part", names), Axis("query", decomposition.parts.axes[1].labels[:count]))
    return LabelledArray("decoder.direct_logit_attribution", effects.numpy(), axes, "nats", meaning)


def _sublayer_terms(look: RecordedRun, stack: Stack, layer: int, sublayer: str) -> Iterator[tuple[str, Tensor]]:
    """Split what a sublayer adds: attention into its heads and its bias; feed-forward stays whole."""
    name = f"{stack.name}.{layer}.{sublayer}"
    if sublayer == "feed_forward":
        yield name, look.tensor(f"{name}.output")
        return
    output: nn.Linear = getattr(stack.blocks[layer], sublayer).output
    weight = output.weight.detach().double().cpu()
    head_output = look.tensor(f"{name}.head_output")
    for head, columns in enumerate(weight.chunk(len(head_output), dim=1)):
        yield f"{name}.{head}", head_output[head] @ columns.T
    if output.bias is not None:
        yield f"{name}.bias", output.bias.detach().double().cpu().expand(head_output.shape[1], -1)


def _pass_through_norm(terms: dict[str, Tensor], norm: nn.Module) -> None:
    """Pass all terms through a norm that follows their sum."""
    total = torch.stack(list(terms.values())).sum(0)
    frozen = freeze_norm(norm, total)
    for name, term in terms.items():
        terms[name] = frozen.apply(term)
    if bool(frozen.shift.any()):
        terms[NORM_SHIFTS] = terms.get(NORM_SHIFTS, torch.zeros_like(total)) + frozen.shift

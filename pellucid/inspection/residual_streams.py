"""The residual stream layer by layer: what is left of the token, and how many dimensions are in use."""

from typing import NamedTuple

import numpy
import torch
from torch import Tensor
from torch.nn.functional import normalize

from pellucid.inspection.labelled_array import Axis, LabelledArray
from pellucid.inspection.recording import RecordedRun

__all__ = ["TokenIdentity", "effective_rank", "residual_streams", "token_identity"]


def residual_streams(look: RecordedRun, stack: str = "") -> LabelledArray:
    """Stack the residual stream before the first block and after each, [layer query d_model].

    Args:
        look: with the stack's `residual.input` and `residual.output`.
        stack: encoder or decoder; unless given, the encoder if there is one.
    """
    stack = stack or _first_stack(look)
    count = len(look.stack(stack).blocks)
    names = [f"{stack}.0.residual.input", *(f"{stack}.{n}.residual.output" for n in range(count))]
    arrays = look.require(*names)
    axis = Axis("layer", ("input", *map(str, range(count))))
    values = numpy.stack([array.values for array in arrays])
    return LabelledArray(f"{stack}.residual_streams", values, (axis, *arrays[0].axes), "–", "the residual stream")


class TokenIdentity(NamedTuple):
    """How much of a token's embedding is left in its state.

    Attributes:
        cosine: of each state with the token's own embedding, [layer query].
        rank: of the token among all, by cosine of their embeddings with the state, [layer query]; 1 is the highest.
    """

    cosine: LabelledArray
    rank: LabelledArray


@torch.inference_mode()
def token_identity(look: RecordedRun, stack: str = "") -> TokenIdentity:
    """Compare each state with its token's embedding, layer by layer."""
    states = residual_streams(look, stack)
    stack = stack or _first_stack(look)
    found = look.stack(stack)
    embeddings = normalize(found.embedding.weight.detach().double().cpu(), dim=-1)
    ids = [token.id for token in look.tokens_on(found.side)]
    x = normalize(torch.from_numpy(states.values).double(), dim=-1)
    cosine = (x * embeddings[ids]).sum(-1)
    closer = [(layer @ embeddings.T) > own[:, None] + 1e-12 for layer, own in zip(x, cosine, strict=True)]
    rank = torch.stack([1 + row.sum(-1) for row in closer])
    axes = states.axes[:2]
    meaning = "cosine of a state with its token's embedding"
    return TokenIdentity(
        LabelledArray(f"{stack}.token_identity", cosine.numpy(), axes, "cosine", meaning),
        LabelledArray(f"{stack}.token_identity.rank", rank.numpy(), axes, "rank", "rank of the token by cosine"),
    )


def effective_rank(look: RecordedRun, stack: str = "") -> LabelledArray:
    """Measure how many dimensions the states of a text use, [layer].

    exp(entropy of the singular values, divided by their sum): between 1 (all states on one line) and the number of
    tokens or dimensions.

    Source:
        Roy & Vetterli 2007.
    """
    states = residual_streams(look, stack)
    values = numpy.array([_effective_rank(torch.from_numpy(layer).double()) for layer in states.values])
    name = f"{stack or _first_stack(look)}.effective_rank"
    return LabelledArray(name, values, (states.axes[0],), "dimensions", "dimensions that the states use")


def _first_stack(look: RecordedRun) -> str:
    return "encoder" if look.source else "decoder"


def _effective_rank(x: Tensor) -> float:
    if not bool(x.isfinite().all()):  # weights of a run that diverged
        return float("nan")
    singular = torch.linalg.svdvals(x)
    shares = singular[singular > 0] / singular.sum()
    return float(torch.exp(-(shares * shares.log()).sum())) if len(shares) else 0.0

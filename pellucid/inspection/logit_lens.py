"""What each layer would say and what it still knows: logit lens, a token's identity, how many directions are in use."""

from typing import NamedTuple

import numpy
import torch
from torch import Tensor

from pellucid.inspection.labelled_array import Axis, LabelledArray
from pellucid.inspection.recorded_run import RecordedRun
from pellucid.inspection.structure import output_weight

__all__ = ["LogitLens", "TokenIdentity", "effective_rank", "layer_logits", "lens", "residual_streams", "token_identity"]


class LogitLens(NamedTuple):
    """What the model would write after each layer.

    Attributes:
        top: ids of the most probable tokens, best first, [layer query rank].
        top_log_probs: of these, natural logarithm, [layer query rank].
        following: log-probability of the token that follows, [layer query]; NaN where nobody knows what follows.
        entropy: how undecided it is, [layer query]; nats.
    """

    top: LabelledArray
    top_log_probs: LabelledArray
    next_tokens: LabelledArray
    entropy: LabelledArray


def residual_streams(look: RecordedRun, stack: str = "decoder") -> tuple[LabelledArray, list[str]]:
    """Return a stack's residual stream before its first block and after each, [layer query d_model], and their taps."""
    count = len(look.stack(stack).blocks)
    names = [f"{stack}.0.residual.input", *(f"{stack}.{n}.residual.output" for n in range(count))]
    arrays = look.require(*names)
    axis = Axis("layer", ("input", *map(str, range(count))))
    values = numpy.stack([array.values for array in arrays])
    return LabelledArray(f"{stack}.streams", values, (axis, *arrays[0].axes), "–", "the residual stream"), names


def lens(look: RecordedRun, top: int = 5) -> LogitLens:
    """Read the decoder's stream after every layer as if it were the last, by `layer_logits`.

    Args:
        look: with the decoder's residual stream.
        top: how many of the most probable tokens to name.
    """
    states, _ = residual_streams(look, "decoder")
    ids = torch.tensor(look.encoded.next_tokens, dtype=torch.int64)
    rows: dict[str, list[Tensor]] = {"top": [], "top_log_probs": [], "next_tokens": [], "entropy": []}
    for layer in range(len(states)):
        log_probs = layer_logits(look, layer).log_softmax(-1)
        best = log_probs.topk(min(top, log_probs.shape[-1]))
        next_tokens = torch.full((len(log_probs),), torch.nan)
        next_tokens[: len(ids)] = log_probs[: len(ids)].gather(-1, ids[:, None])[:, 0]
        entropy = -(log_probs.exp() * log_probs).sum(-1)
        for name, row in zip(rows, (best.indices, best.values, next_tokens, entropy), strict=True):
            rows[name].append(row)
    layers, queries = states.axes[:2]
    ranks = Axis("rank", tuple(str(n + 1) for n in range(rows["top"][0].shape[-1])))
    units = {"top": "id", "top_log_probs": "nats", "next_tokens": "nats", "entropy": "nats"}
    meanings = {
        "top": "most probable next tokens",
        "top_log_probs": "log-probability of the most probable next tokens",
        "next_tokens": "log-probability of the token that follows",
        "entropy": "how undecided the layer is",
    }
    arrays = {
        name: LabelledArray(
            f"decoder.lens.{name}",
            torch.stack(found).numpy(),
            (layers, queries, ranks)[: found[0].ndim + 1],
            units[name],
            meanings[name],
        )
        for name, found in rows.items()
    }
    return LogitLens(**arrays)


@torch.inference_mode()
def layer_logits(look: RecordedRun, layer: int) -> Tensor:
    """Return what the model's output matrix reads out of a stream, float32 [query vocab_size]; 0 is the input.

    norm(x) Wᵀ, the norm with the statistics of this layer's own x, not with the last layer's: so the last layer's
    logits are the model's own. A post-norm stream is normalised already.

    Source:
        nostalgebraist 2020 (interpreting GPT: the logit lens).
    """
    states, _ = residual_streams(look, "decoder")
    weight = output_weight(look.model)
    x = torch.from_numpy(states.values[layer]).to(weight)
    logits: Tensor = (look.stack("decoder").norm(x) @ weight.T).float().cpu()
    return logits


class TokenIdentity(NamedTuple):
    """How much of the token itself is left in its state.

    Attributes:
        cosine: of each state with the token's own embedding, [layer query].
        rank: place of the token among all, by cosine of their embeddings with the state, [layer query]; 1 is first.
    """

    cosine: LabelledArray
    rank: LabelledArray


@torch.inference_mode()
def token_identity(look: RecordedRun, stack: str = "encoder") -> TokenIdentity:
    """Return how far each token's state still is its own embedding, layer by layer.

    Args:
        look: with the stack's residual stream.
        stack: encoder or decoder.
    """
    states, _ = residual_streams(look, stack)
    place = look.stack(stack)
    rows = torch.nn.functional.normalize(place.embedding.weight.detach().double().cpu(), dim=-1)
    ids = [token.id for token in look.tokens_on(place.side)]
    x = torch.nn.functional.normalize(torch.from_numpy(states.values).double(), dim=-1)
    cosine = (x * rows[ids]).sum(-1)
    nearer = [(layer @ rows.T) > own[:, None] + 1e-12 for layer, own in zip(x, cosine, strict=True)]
    rank = torch.stack([1 + closer.sum(-1) for closer in nearer])
    axes = states.axes[:2]
    return TokenIdentity(
        LabelledArray(
            f"{stack}.identity", cosine.numpy(), axes, "cosine", "cosine of a state with its token's embedding"
        ),
        LabelledArray(f"{stack}.identity.rank", rank.numpy(), axes, "place", "place of the token among all by cosine"),
    )


def effective_rank(look: RecordedRun, stack: str = "encoder") -> LabelledArray:
    """Return how many directions the states of a text use, [layer]; dimensions.

    exp(entropy of the singular values, taken as shares of their sum): between 1, all states on one line, and the number
    of tokens or of dimensions.

    Source:
        Roy & Vetterli 2007.
    """
    states, _ = residual_streams(look, stack)
    values = numpy.array([_rank_of(torch.from_numpy(layer).double()) for layer in states.values])
    return LabelledArray(
        f"{stack}.effective_rank", values, (states.axes[0],), "dimensions", "directions that the states use"
    )


def _rank_of(x: Tensor) -> float:
    if not bool(x.isfinite().all()):  # a training that diverged leaves such weights
        return float("nan")
    singular = torch.linalg.svdvals(x)
    shares = singular[singular > 0] / singular.sum()
    return float(torch.exp(-(shares * shares.log()).sum())) if len(shares) else 0.0

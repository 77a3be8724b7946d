"""Word alignments from cross-attention: which source tokens each target token attended to."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor

from pellucid.generation.batching import pad_rows
from pellucid.generation.constraints import SpecialTokens
from pellucid.layers.taps import SelectiveTap
from pellucid.models.encoder_decoder import EncoderDecoder

__all__ = ["AlignmentHeads", "AlignmentLink", "attention_alignments", "strongest_links"]

AlignmentHeads: TypeAlias = Sequence[tuple[int, int]]
"""(layer, head) of cross-attention heads."""

_MIN_WEIGHT = 0.1  # of a link that is reported


class AlignmentLink(NamedTuple):
    """A target token and a source token that it attended to.

    Attributes:
        source, target: positions of the tokens, from 0.
        weight: share of the attention of the target token, mean of the heads.
    """

    source: int
    target: int
    weight: float


@torch.inference_mode()
def attention_alignments(
    model: EncoderDecoder,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    special_tokens: SpecialTokens,
    heads: AlignmentHeads = (),
) -> list[Float[Tensor, "target source"]]:
    """Compute how much each target token attended to each source token when it was predicted.

    The decoder reads each pair once more, all positions at once: the weights are those of the search, up to rounding. A
    row sums to 1 over the source tokens including the end token.

    Args:
        sources: ids, ending in the end token.
        targets: ids without start and end.
        heads: (layer, head) of the heads to average, those that training guided; all if empty.
    """
    if not sources:
        return []
    device = model.target_embedding.weight.device
    layers = sorted({layer for layer, _ in heads}) or range(len(model.decoder))
    seen: dict[int, Tensor] = {}

    def record(name: str, weights: Tensor) -> Tensor:
        seen[int(name.split(".")[1])] = weights.float()
        return weights

    names = [f"decoder.{layer}.cross_attention.weights" for layer in layers]
    memory = model.encode(pad_rows(sources, special_tokens.pad_id, device))
    given = pad_rows([[special_tokens.start_id, *target] for target in targets], special_tokens.pad_id, device)
    model.decode(given, memory, SelectiveTap(names, record))
    chosen = [seen[layer][:, head] for layer, head in heads] or [weights.mean(1) for weights in seen.values()]
    mean = torch.stack(chosen).mean(0).cpu()
    return [
        mean[row, : len(target), : len(source)]
        for row, (source, target) in enumerate(zip(sources, targets, strict=True))
    ]


def strongest_links(weights: Float[Tensor, "target source"]) -> list[AlignmentLink]:
    """Select the strongest link of each target token, and all links with a weight of at least 0.1.

    The last column, the end token of the source, is not linked.
    """
    tokens = weights[:, :-1]
    if not tokens.numel():
        return []
    strong = tokens >= _MIN_WEIGHT
    strong.scatter_(1, tokens.argmax(1, keepdim=True), True)
    return [
        AlignmentLink(source, target, float(tokens[target, source])) for target, source in strong.nonzero().tolist()
    ]

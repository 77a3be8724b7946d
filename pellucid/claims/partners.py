"""Do a sentence and its translation lie together? Retrieval of the right partner among many."""

from collections.abc import Sequence

import torch
from torch import Tensor

from pellucid.demo.language import DemoPair
from pellucid.generation.translate import Translator

__all__ = ["retrieval", "sentence_states"]


def sentence_states(translator: Translator, pairs: Sequence[DemoPair]) -> tuple[Tensor, Tensor]:
    """Return one vector a sentence for both sides, [pairs d_model] each.

    The source's is the mean of the encoder's states; the target's is the mean of the decoder's stream after the first
    self-attention, before it has looked at any source, so that nothing of the partner is in it.
    """
    model, source_side, target_side = translator.model, [], []
    for pair in pairs:
        source = torch.tensor([translator.source_tokenizer.encode(pair.source)])
        target = torch.tensor([translator.target_tokenizer.encode(pair.target)])
        seen: dict[str, Tensor] = {}

        def record(name: str, x: Tensor, seen: dict[str, Tensor] = seen) -> Tensor:
            return seen.setdefault(name, x)

        with torch.no_grad():
            memory = model.encode(source)
            model.decode(target, memory, record)
        source_side.append(memory.states[0].mean(0))
        target_side.append(seen["decoder.0.residual.after_self_attention"][0].mean(0))
    return torch.stack(source_side), torch.stack(target_side)


def retrieval(sources: Tensor, targets: Tensor) -> float:
    """Return how often the nearest target, by cosine after taking off each side's mean, is the source's own."""
    one, other = (torch.nn.functional.normalize(x - x.mean(0), dim=1) for x in (sources, targets))
    return float(((one @ other.T).argmax(1) == torch.arange(len(one))).float().mean())

"""H4: heads specialise, and losing one is survivable."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import torch
import torch.nn.functional as F
from torch import Tensor

from pellucid.claims.activations import Activations
from pellucid.claims.claim import Effort, Setup, at_least, at_most, claim
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds
from pellucid.demo.language import DemoPair
from pellucid.generation.batching import pad_rows
from pellucid.layers.taps import Tap, keep
from pellucid.translator import Translator

__all__ = ["CLAIM", "ablate_head", "divergence", "measure"]


def ablate_head(attention: str, head: int) -> Tap:
    """Make a tap that sets the output of one head to zero."""

    def tap(name: str, x: Tensor) -> Tensor:
        if name != f"{attention}.head_output":
            return x
        kept = torch.ones(x.shape[1], 1, 1)
        kept[head] = 0
        return x * kept

    return tap


def _all_heads(translator: Translator) -> Iterator[tuple[str, int]]:
    model = translator.model
    for stack, blocks, parts in (
        ("encoder", model.encoder, ["self_attention"]),
        ("decoder", model.decoder, ["self_attention", "cross_attention"]),
    ):
        for layer in range(len(blocks)):
            for part in parts:
                for head in range(model.config.n_heads):
                    yield f"{stack}.{layer}.{part}", head


def pair_batch(translator: Translator, pairs: Sequence[DemoPair]) -> tuple[Tensor, Tensor]:
    """Encode source ids with an end token, and target ids between start and end tokens, as in training."""
    source, target = translator.source_tokenizer, translator.target_tokenizer
    sources = pad_rows([[*source.encode(pair.source), source.end_id] for pair in pairs], source.pad_id)
    targets = pad_rows([[target.start_id, *target.encode(pair.target), target.end_id] for pair in pairs], target.pad_id)
    return sources, targets


def translation_loss(translator: Translator, pairs: Sequence[DemoPair], tap: Tap = keep) -> float:
    """Compute the mean loss of the target tokens, in nats per token.

    Args:
        tap: may change activations.
    """
    sources, targets = pair_batch(translator, pairs)
    with torch.no_grad():
        logits = translator.model(sources, targets[:, :-1], tap)
    pad = translator.target_tokenizer.pad_id
    return float(F.cross_entropy(logits.flatten(0, 1), targets[:, 1:].flatten(), ignore_index=pad))


def divergence(translator: Translator, pairs: Sequence[DemoPair]) -> float:
    """Compute the mean Jensen–Shannon divergence between the weights of two heads of a layer, in bits."""
    sources, targets = pair_batch(translator, pairs)
    activations = Activations()
    with torch.no_grad():
        translator.model(sources, targets[:, :-1], activations)
    found = []
    for name, weights in activations.items():
        if name.endswith("self_attention.weights") and name.startswith("encoder"):
            is_token = sources != translator.source_tokenizer.pad_id
            for a, b in combinations(weights.unbind(1), 2):
                middle = (a + b) / 2
                bits = sum(torch.special.xlogy(x, x / middle.clamp_min(1e-30)).sum(-1) for x in (a, b)) / 2
                found.append(float(bits[is_token].mean() / torch.tensor(2.0).log()))
    return sum(found) / len(found)


def measure(setup: Setup) -> Evidence:
    """Ablate each head of a trained translator in turn; compare heads' attention before and after training."""
    worst, median, gain, records = [], [], [], []
    for seed in setup.every_seed():
        trained, fresh = demo_translator(setup.steps, seed), demo_translator(0, seed)
        pairs = trained.data.test[: setup.size]
        whole = translation_loss(trained.translator, pairs)
        losses = {
            (attention, head): translation_loss(trained.translator, pairs, ablate_head(attention, head)) - whole
            for attention, head in _all_heads(trained.translator)
        }
        ordered = sorted(losses.values())
        worst.append(ordered[-1])
        median.append(ordered[len(ordered) // 2] / whole)
        gain.append(divergence(trained.translator, pairs[:20]) - divergence(fresh.translator, pairs[:20]))
        if seed == setup.seed:
            records = [
                {"attention": attention, "head": str(head), "loss_added": added}
                for (attention, head), added in losses.items()
            ]
    numbers = {
        "median_loss_added_relative": mean_over_seeds(median),
        "largest_loss_added": mean_over_seeds(worst),
        "divergence_gained_by_training": mean_over_seeds(gain),
    }
    return Evidence(numbers, records, Figure("bar", "attention", "loss_added", "head"))


CLAIM = claim(
    measure,
    at_most("median_loss_added_relative", 0.25, fails_at=1.0),
    at_least("divergence_gained_by_training", 0.02, fails_at=0.0),
    effort=Effort(Setup(seeds=3, steps=150, size=40), Setup(seeds=6, steps=1_500, size=150)),
)

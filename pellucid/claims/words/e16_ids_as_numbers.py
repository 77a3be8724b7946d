"""E16: expanding an id is worse than projecting down a one-hot vector."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pellucid.claims.claim import Effort, Setup, at_least, claim
from pellucid.claims.evidence import Evidence, Figure, paired_difference, share_over_seeds
from pellucid.claims.small_models import torch_generator
from pellucid.claims.toy_tasks import fit
from pellucid.layers.embeddings import TokenEmbedding
from pellucid.layers.feed_forward import FeedForward

__all__ = ["CLAIM", "measure"]

_WORDS, _CLASSES, _D = 64, 4, 16


class _Spread(nn.Module):
    """An id as one number from −1 to 1, expanded to the width by a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.widen = nn.Linear(1, _D)

    def forward(self, ids: Tensor) -> Tensor:
        widened: Tensor = self.widen(2 * ids[..., None].float() / (_WORDS - 1) - 1)
        return widened


def _accuracy(entry: nn.Module, labels: Tensor, steps: int, seed: int) -> float:
    network = nn.Sequential(entry, FeedForward(_D, 4 * _D, True, nn.ReLU()), nn.Linear(_D, _CLASSES))
    with torch.no_grad():
        random = torch_generator(seed, "E16", "weights")
        for weight in network.parameters():
            weight.normal_(std=0.3, generator=random)
    ids = torch.arange(_WORDS)[None]
    fit(network, lambda step: F.cross_entropy(network(ids)[0], labels), steps, learning_rate=1e-2)
    with torch.no_grad():
        return float((network(ids)[0].argmax(1) == labels).float().mean())


def measure(setup: Setup, ordered: bool = False) -> Evidence:
    """Train a small network on the classes of 64 words, from the id as a number and from an embedding row.

    Args:
        ordered: let the classes follow the ids, so that the number alone is enough.
    """
    found: dict[str, list[float]] = {"id as a number": [], "embedding row": []}
    for seed in setup.every_seed():
        random = torch_generator(seed, "E16")
        labels = torch.randint(_CLASSES, (_WORDS,), generator=random)
        if ordered:
            labels = torch.arange(_WORDS) * _CLASSES // _WORDS
        found["id as a number"].append(_accuracy(_Spread(), labels, setup.steps, seed))
        found["embedding row"].append(_accuracy(TokenEmbedding(_WORDS, _D, 1.0), labels, setup.steps, seed))
    records = [
        {"input": way, "seed": str(setup.seed + n), "accuracy": value}
        for way, values in found.items()
        for n, value in enumerate(values)
    ]
    spread, folded = found.values()
    numbers = {
        "advantage_of_embedding": paired_difference(folded, spread),
        "accuracy_of_id": share_over_seeds(spread),
        "accuracy_of_embedding": share_over_seeds(folded),
    }
    return Evidence(numbers, records, Figure("bar", "input", "accuracy", "seed"))


CLAIM = claim(
    measure,
    at_least("advantage_of_embedding", 0.2, fails_at=0.05),
    effort=Effort(Setup(seeds=3, steps=300), Setup(seeds=5, steps=600)),
)

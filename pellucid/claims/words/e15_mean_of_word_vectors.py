"""E15: word vectors alone cannot represent a sentence."""

import torch

from pellucid.claims.claim import Effort, Setup, at_least, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values, share_over_seeds
from pellucid.claims.toy_tasks import train_to_name_the_chaser

__all__ = ["CLAIM", "measure"]


def measure(setup: Setup, positions: str = "sinusoidal") -> Evidence:
    """Predict chaser chases from the mean of the word vectors and from the mean of an encoder's states.

    Args:
        positions: scheme of the encoder.
    """
    found: dict[str, list[float]] = {"mean of word vectors": [], "mean of encoder states": []}
    off = 0.0
    for seed in setup.every_seed():
        for way, values in found.items():
            model, accuracy = train_to_name_the_chaser(
                seed, setup.steps, positions, word_vectors_only=way == "mean of word vectors"
            )
            values.append(accuracy)
            with torch.no_grad():
                rows = model.embedding(torch.tensor([[1, 9, 2], [2, 9, 1]])).mean(1)
            off = max(off, float((rows[0] - rows[1]).abs().max()))
    records = [
        {"way": way, "seed": str(setup.seed + n), "accuracy": value}
        for way, values in found.items()
        for n, value in enumerate(values)
    ]
    means, states = found.values()
    numbers = {
        **exact_values(difference_of_the_two_means=off),
        "accuracy_of_means": share_over_seeds(means),
        "accuracy_of_encoder_states": share_over_seeds(states),
    }
    return Evidence(numbers, records, Figure("bar", "way", "accuracy", "seed"))


CLAIM = claim(
    measure,
    at_most("difference_of_the_two_means", 1e-6),
    at_most("accuracy_of_means", 0.6, fails_at=0.75),
    at_least("accuracy_of_encoder_states", 0.9, fails_at=0.75),
    effort=Effort(Setup(seeds=3, steps=120), Setup(seeds=5, steps=300)),
)

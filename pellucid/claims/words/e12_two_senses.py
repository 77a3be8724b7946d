"""E12: one vector cannot represent two senses."""

import torch

from pellucid.claims.claim import Effort, Setup, at_least, claim
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Evidence, Figure, exact_values, mean_over_seeds, share_over_seeds
from pellucid.claims.occurrences import sample_occurrences, sense_separation, states_by_layer

__all__ = ["CLAIM", "measure"]

# “Apples” may begin a sentence; the company has no plural.
_SENSES = {"Apples": "the fruit", "Apple": "the firm", "apple": "the fruit"}
_MOST = 40  # occurrences per sense


def measure(setup: Setup) -> Evidence:
    """Compare the vectors of 苹果 in sentences about the fruit and about the company, before and after the encoder."""
    static, gaps, nearest, records = [], [], [], []
    for seed in setup.every_seed():
        trained = demo_translator(setup.steps, seed)
        chosen = sample_occurrences(trained, "苹果", _SENSES, _MOST)
        senses = [one.sense for one in chosen]
        states = states_by_layer(trained.translator, chosen)
        rows = torch.nn.functional.normalize(states[0], dim=1)
        static.append(float((rows @ rows.T).min()))
        for layer in range(1, len(states)):
            same, cross, right = sense_separation(states[layer], senses)
            records.append({"layer": layer, "seed": str(seed), "gap": same - cross, "nearest_of_same_sense": right})
        gaps.append(same - cross)
        nearest.append(right)
    numbers = {
        **exact_values(least_cosine_of_static_vectors=min(static)),
        "gap_of_senses": mean_over_seeds(gaps),
        "nearest_of_same_sense": share_over_seeds(nearest),
    }
    return Evidence(numbers, records, Figure("line", "layer", "gap", "seed"))


CLAIM = claim(
    measure,
    at_least("least_cosine_of_static_vectors", 0.9999),
    at_least("gap_of_senses", 0.1, fails_at=0.02),
    at_least("nearest_of_same_sense", 0.8, fails_at=0.6),
    effort=Effort(Setup(seeds=3, steps=150), Setup(seeds=6, steps=1_500)),
)

"""A9: context changes a word's vector."""

from pellucid.claims.claim import Effort, Setup, at_least, at_most, claim
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds
from pellucid.claims.occurrences import sample_occurrences, sense_separation, states_by_layer

__all__ = ["CLAIM", "measure"]

_WORDS = {
    "苹果": {"Apples": "fruit", "Apple": "firm", "apple": "fruit"},
    "看": {"read": "read", "watch": "watch", "see": "see", "saw": "see", "look": "look"},
    "花": {"flower": "flower", "spen": "spend"},
}
_MOST = 30  # occurrences per sense


def measure(setup: Setup) -> Evidence:
    """Follow ambiguous words through the encoder's layers, and compare cosines within senses and across."""
    first, last, records = [], [], []
    for seed in setup.every_seed():
        trained = demo_translator(setup.steps, seed)
        gaps: dict[int, list[float]] = {}
        for word, prefixes in _WORDS.items():
            chosen = sample_occurrences(trained, word, prefixes, _MOST)
            senses = [one.sense for one in chosen]
            if min((senses.count(sense) for sense in set(senses)), default=0) < 2 or len(set(senses)) < 2:
                continue
            for layer, states in enumerate(states_by_layer(trained.translator, chosen)):
                same, cross, _ = sense_separation(states, senses)
                gaps.setdefault(layer, []).append(same - cross)
                records.append({"layer": layer, "word": word, "gap": same - cross, "seed": seed})
        means = [sum(values) / len(values) for _, values in sorted(gaps.items())]
        first.append(means[0])
        last.append(means[-1])
    numbers = {"gap_at_the_embedding": mean_over_seeds(first), "gap_at_the_last_layer": mean_over_seeds(last)}
    shown = [record for record in records if record["seed"] == setup.seed]
    return Evidence(numbers, shown, Figure("line", "layer", "gap", "word"))


CLAIM = claim(
    measure,
    at_most("gap_at_the_embedding", 0.01, fails_at=0.05),
    at_least("gap_at_the_last_layer", 0.1, fails_at=0.02),
    effort=Effort(Setup(seeds=3, steps=150), Setup(seeds=6, steps=1_500)),
)

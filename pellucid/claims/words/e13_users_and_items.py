"""E13: the same idea embeds users and items."""

from collections import Counter

import numpy

from pellucid.claims.claim import Effort, Setup, at_least, claim
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds, share_over_seeds
from pellucid.demo.baskets import generate_baskets, precision_at_k
from pellucid.randomness import generator
from pellucid.vectors import WordVectors

__all__ = ["CLAIM", "measure"]


def measure(setup: Setup, faithfulness: float = 0.8) -> Evidence:
    """Train skip-gram on baskets and compute how many of an item's ten neighbours share its hidden genre.

    Args:
        faithfulness: share of a basket in its customer's genre.
    """
    found: dict[str, list[float]] = {"skip-gram": [], "popularity": [], "chance": []}
    records = []
    for seed in setup.every_seed():
        baskets, genre_of = generate_baskets(setup.size, faithfulness=faithfulness, seed=seed)
        vectors = WordVectors.train(
            baskets, dim=24, window=10, dynamic_window=False, epochs=setup.steps, sample=0.0, min_count=5,
            seed=seed, threads=1, learning_rate=0.05,
        )  # fmt: skip
        items = list(vectors.words)
        near = vectors.similar_batch(items, 10)
        popular = [item for item, _ in Counter(item for basket in baskets for item in basket).most_common(11)]
        draw = generator(seed, "E13")
        ways = {
            "skip-gram": {item: [one.word for one in found_near] for item, found_near in zip(items, near, strict=True)},
            "popularity": {item: [other for other in popular if other != item][:10] for item in items},
            "chance": {item: [items[n] for n in draw.choice(len(items), 10, replace=False)] for item in items},
        }
        for way, neighbours in ways.items():
            found[way].append(precision_at_k(neighbours, genre_of))
            records.append({"way": way, "seed": str(seed), "precision": found[way][-1]})
    numbers = {
        "precision": share_over_seeds(found["skip-gram"]),
        "over_chance": mean_over_seeds(numpy.array(found["skip-gram"]) - numpy.array(found["chance"])),
        "over_popularity": mean_over_seeds(numpy.array(found["skip-gram"]) - numpy.array(found["popularity"])),
    }
    return Evidence(numbers, records, Figure("bar", "way", "precision", "seed"))


CLAIM = claim(
    measure,
    at_least("over_chance", 0.3, fails_at=0.1),
    at_least("over_popularity", 0.3, fails_at=0.1),
    effort=Effort(Setup(seeds=3, steps=5, size=4_000), Setup(seeds=5, steps=10, size=15_000)),
)

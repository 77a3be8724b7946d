"""E9: ids and one-hot vectors carry no meaning."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy

from pellucid.claims.claim import Setup, at_most, claim
from pellucid.claims.demo_text import demo_sentences, noun_similarities
from pellucid.claims.evidence import Estimate, Evidence, Figure, exact_values
from pellucid.evaluation.word_similarity import spearman
from pellucid.randomness import generator
from pellucid.word_vectors import encode_text

__all__ = ["CLAIM", "ids_of_text", "measure"]

_SHUFFLES = 200


def ids_of_text(count: int, seed: int) -> dict[str, int]:
    """Look up the id of each word of the demo text, assigned by frequency."""
    with tempfile.TemporaryDirectory(prefix="pellucid-") as folder:
        text = encode_text(demo_sentences("zh", count, seed), Path(folder), min_count=5)
        return {word: index for index, word in enumerate(text.words)}


def measure(setup: Setup, ids: Mapping[str, int] | None = None) -> Evidence:
    """Compare the distance between two nouns' ids, and their one-hot vectors, with how similarly they are used."""
    ids = ids_of_text(4_000, setup.seed) if ids is None else ids
    similarities = noun_similarities(ids)
    pairs, alike = list(similarities), numpy.array(list(similarities.values()))
    closeness = numpy.array([-abs(ids[a] - ids[b]) for a, b in pairs])
    one_hot = numpy.eye(len(ids))
    rows = one_hot[[ids[a] for a, _ in pairs]], one_hot[[ids[b] for _, b in pairs]]
    distances, cosines = numpy.linalg.norm(rows[0] - rows[1], axis=1), (rows[0] * rows[1]).sum(axis=1)
    nouns = {noun: n for n, noun in enumerate(dict.fromkeys(noun for pair in pairs for noun in pair))}
    draw, indices = generator(setup.seed, "E9"), numpy.array([[nouns[a], nouns[b]] for a, b in pairs])
    chance = []
    for _ in range(_SHUFFLES):
        shuffled = draw.permutation(len(nouns))
        chance.append(spearman(-numpy.abs(shuffled[indices[:, 0]] - shuffled[indices[:, 1]]), alike) or 0.0)
    correlation = spearman(closeness, alike) or 0.0
    reach = float(numpy.quantile(numpy.abs(chance), 0.95))
    shown = draw.choice(len(pairs), min(400, len(pairs)), replace=False)
    records = [
        {"pair": " ".join(pairs[n]), "distance_of_ids": int(-closeness[n]), "alike": float(alike[n])}
        for n in shown.tolist()
    ]
    numbers = {
        **exact_values(
            one_hot_distance_error=float(numpy.abs(distances - 2**0.5).max()),
            one_hot_cosine=float(numpy.abs(cosines).max()),
            correlation_by_chance=reach,
        ),
        "correlation_size": Estimate(abs(correlation), abs(correlation), abs(correlation), len(pairs)),
    }
    return Evidence(numbers, records, Figure("point", "distance_of_ids", "alike"))


CLAIM = claim(
    measure, at_most("one_hot_distance_error", 1e-12), at_most("one_hot_cosine", 0.0), at_most("correlation_size", 0.2)
)

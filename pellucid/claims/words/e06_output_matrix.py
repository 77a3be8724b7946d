"""E6: after training W_out can be thrown away."""

from pathlib import Path

import numpy

from pellucid.claims.claim import Effort, Setup, at_least, claim
from pellucid.claims.demo_text import demo_vectors, noun_similarities
from pellucid.claims.evidence import Evidence, Figure, MissingData, mean_over_seeds, paired_difference, share_over_seeds
from pellucid.evaluation.analogies import analogy_accuracy
from pellucid.evaluation.word_similarity import similarity_correlation, spearman
from pellucid.vectors import WordVectors

__all__ = ["CLAIM", "measure", "spaces"]

_SHORT = {"W_in": "in", "W_out": "out", "W_in + W_out": "sum"}


def spaces(vectors: WordVectors) -> dict[str, WordVectors]:
    """Build the vectors in three spaces: input rows, output rows, and the sums of both."""
    assert vectors.output_vectors is not None
    rows = {
        "W_in": vectors.input_vectors,
        "W_out": vectors.output_vectors,
        "W_in + W_out": vectors.input_vectors + vectors.output_vectors,
    }
    return {name: WordVectors(list(vectors.words), matrix, counts=vectors.counts) for name, matrix in rows.items()}


def _of_nouns(vectors: WordVectors) -> float:
    """Correlate cosines with the share of verbs and adjectives that two nouns have in common."""
    similarities = noun_similarities(vectors)
    index = {noun: n for n, noun in enumerate(dict.fromkeys(noun for pair in similarities for noun in pair))}
    rows = numpy.stack([vectors.unit_vector(noun) for noun in index])
    cosines = rows @ rows.T
    return spearman([cosines[index[a], index[b]] for a, b in similarities], list(similarities.values())) or 0.0


def _judged(space: WordVectors, similarity: Path) -> float:
    found = similarity_correlation(space, similarity).spearman
    if found is None:
        raise MissingData("no_judgements", similarity=similarity)
    return found


def _own(folder: Path | None, *names: str) -> Path | None:
    """Choose the user's folder if it has all these files."""
    return folder if folder is not None and all((folder / name).is_file() for name in names) else None


def measure(setup: Setup) -> Evidence:
    """Evaluate the three spaces on similarity: with the user's text and judgements, or the demo language."""
    found: dict[str, list[float]] = {}
    analogies: dict[str, list[float]] = {}
    records = []
    own = _own(setup.data, "text.txt", "similarity.tsv")
    for seed in setup.every_seed():
        if own is not None:
            vectors = WordVectors.train(own / "text.txt", dim=100, epochs=setup.steps, seed=seed)
        else:
            vectors = demo_vectors("zh", setup.size, seed, epochs=setup.steps)
        for name, space in spaces(vectors).items():
            value = _of_nouns(space) if own is None else _judged(space, own / "similarity.tsv")
            found.setdefault(name, []).append(value)
            records.append({"space": name, "seed": str(seed), "correlation": value})
            if own is not None and (own / "analogies.txt").is_file():
                right = analogy_accuracy(space, own / "analogies.txt", restrict=30_000).total.accuracy
                if right is not None:
                    analogies.setdefault(name, []).append(right)
    numbers = {
        "correlation_in": mean_over_seeds(found["W_in"]),
        "correlation_out": mean_over_seeds(found["W_out"]),
        "correlation_sum": mean_over_seeds(found["W_in + W_out"]),
        "in_less_sum": paired_difference(found["W_in"], found["W_in + W_out"]),
        **{f"analogies_{_SHORT[name]}": share_over_seeds(values) for name, values in analogies.items()},
    }
    return Evidence(numbers, records, Figure("bar", "space", "correlation", "seed"), () if own else ("demo_language",))


CLAIM = claim(
    measure,
    at_least("in_less_sum", -0.05, fails_at=-0.1),
    at_least("correlation_in", 0.2, fails_at=0.1),
    effort=Effort(Setup(seeds=3, steps=5, size=2_000), Setup(seeds=5, steps=10, size=10_000)),
)

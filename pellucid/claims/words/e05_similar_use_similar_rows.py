"""E5: words used alike get similar rows."""

import numpy

from pellucid.claims.claim import Effort, Setup, at_least, claim
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds
from pellucid.randomness import generator
from pellucid.vectors import WordVectors

__all__ = ["CLAIM", "interchangeable_text", "measure"]

_CLASSES, _WORDS = 8, 6
_OBJECTIVES = ("negative-sampling", "full-softmax")
_GRAMMAR = ((0, 1, 2), (3, 1, 4), (0, 5, 6), (3, 5, 7), (2, 6, 4))


def interchangeable_text(seed: int, sentences: int, classes_matter: bool = True) -> list[list[str]]:
    """Generate sentences in which the words of a class are interchangeable; without classes, any words are."""
    draw, text = generator(seed, "E5"), []
    for _ in range(sentences):
        pattern = _GRAMMAR[int(draw.integers(len(_GRAMMAR)))]
        classes = pattern if classes_matter else draw.integers(_CLASSES, size=len(pattern)).tolist()
        text.append([f"{word_class}-{int(draw.integers(_WORDS))}" for word_class in classes])
    return text


def measure(setup: Setup, classes_matter: bool = True) -> Evidence:
    """Train on interchangeable words and compare cosines within classes and between them."""
    records: list[dict[str, object]] = []
    gaps: dict[str, list[float]] = {objective: [] for objective in _OBJECTIVES}
    for seed in setup.every_seed():
        text = interchangeable_text(seed, setup.size, classes_matter)
        for objective in _OBJECTIVES:
            vectors = WordVectors.train(
                text, dim=16, window=2, epochs=setup.steps, objective=objective, min_count=1, sample=0.0, seed=seed,
                threads=1, learning_rate=0.1,
            )  # fmt: skip
            rows = vectors.input_vectors / numpy.linalg.norm(vectors.input_vectors, axis=1, keepdims=True)
            kind = numpy.array([word.split("-")[0] for word in vectors.words])
            cosines, same = rows @ rows.T, kind[:, None] == kind[None]
            others = ~numpy.eye(len(rows), dtype=bool)
            within, between = float(cosines[same & others].mean()), float(cosines[~same].mean())
            gaps[objective].append(within - between)
            records += [
                {"objective": objective, "pairs": name, "seed": seed, "cosine": value}
                for name, value in (("within a class", within), ("between classes", between))
            ]
    numbers = {f"gap_{objective.replace('-', '_')}": mean_over_seeds(values) for objective, values in gaps.items()}
    return Evidence(numbers, records, Figure("point", "objective", "cosine", "pairs"))


CLAIM = claim(
    measure,
    at_least("gap_negative_sampling", 0.2, fails_at=0.05),
    at_least("gap_full_softmax", 0.2, fails_at=0.05),
    effort=Effort(Setup(seeds=3, steps=5, size=2_000), Setup(seeds=5, steps=10, size=5_000)),
)

"""Vectors and vocabularies for tests, and the plain twins of what is computed fast."""

from collections.abc import Sequence

import numpy
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from pellucid import WordVectors

Floats = NDArray[numpy.float64]

any_words = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)
small_numbers = st.integers(-2, 2).map(float) | st.floats(-3, 3, width=32)


@st.composite
def word_vectors(
    draw: st.DrawFn,
    words: st.SearchStrategy[str] = any_words,
    elements: st.SearchStrategy[float] = small_numbers,
    least: int = 1,
    most: int = 12,
) -> WordVectors:
    """Draw vectors for a few words."""
    vocabulary = draw(st.lists(words, min_size=least, max_size=most, unique=True))
    shape = (len(vocabulary), draw(st.integers(1, 4)))
    return WordVectors(vocabulary, draw(arrays(numpy.float32, shape, elements=elements)))


def random_vectors(count: int, dim: int, seed: int = 1) -> WordVectors:
    """Return vectors of the words w0, w1, …"""
    draw = numpy.random.default_rng(seed)
    return WordVectors([f"w{row}" for row in range(count)], draw.normal(size=(count, dim)).astype(numpy.float32))


def plain_cosine(vector: NDArray[numpy.float32], direction: Floats) -> float:
    """Return the cosine of one vector with one direction, by the definition."""
    wide = vector.astype(numpy.float64)
    return float((wide * direction).sum() / numpy.sqrt((wide * wide).sum()))


def plain_similar(
    vectors: WordVectors, direction: Floats, n: int, excluded: Sequence[str] = (), restrict: int | None = None
) -> list[tuple[str, float]]:
    """Score all words one by one and sort them."""
    scored = [
        (-plain_cosine(vectors[word], direction), row, word)
        for row, word in enumerate(vectors)
        if word not in excluded and vectors[word].any() and (restrict is None or row < restrict)
    ]
    return [(word, -score) for score, _, word in sorted(scored)[:n]]

"""Analogies ("a is to b as c is to which word?") and the odd one out.

    3CosAdd   cos(w, b − a + c), of unit vectors
    3CosMul   cos'(w, b) · cos'(w, c) / (cos'(w, a) + 0.001), with cos' = (1 + cos) / 2

3CosMul compares the three terms by ratio, so that a single large cosine does not decide alone.

Source:
    Mikolov, Yih & Zweig 2013, eq. 4; Levy & Goldberg 2014, eq. 3 and 4.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy
from numpy.typing import NDArray

from pellucid.errors import UserError
from pellucid.word_vectors.keyed_vectors import KeyedVectors
from pellucid.word_vectors.neighbours import COSINE, ROUNDING, Neighbour, ScoreFormula

__all__ = ["METHODS", "Method", "build_analogy_query", "rank_by_agreement", "solve_analogies"]

Method = Literal["3CosAdd", "3CosMul"]
_EPSILON = 0.001


def _multiply(cosines: NDArray[Any]) -> NDArray[Any]:
    a, b, c = numpy.maximum((1 + cosines) / 2, 0)  # rounding may put a cosine below −1, which would flip the sign
    product: NDArray[Any] = b * c / (a + _EPSILON)
    return product


METHODS: dict[str, ScoreFormula] = {"3CosAdd": COSINE, "3CosMul": ScoreFormula(_multiply, (-1, 1, 1))}


def solve_analogies(
    vectors: KeyedVectors,
    questions: Sequence[tuple[str, str, str]],
    n: int = 10,
    *,
    method: Method = "3CosAdd",
    exclude_query: bool = True,
    restrict: int | None = None,
) -> list[list[Neighbour]]:
    """Find the `n` best answers to each question (a, b, c), with the method's score, best first.

    Raises:
        UnknownWordError: for a word outside the vocabulary.
        UserError: for a question whose vectors cancel out.
    """
    if method not in METHODS:
        raise UserError(f"unknown analogy method {method!r}", where="method", hint=f"Use {' or '.join(METHODS)}.")
    queries = [build_analogy_query(vectors, *question, method=method) for question in questions]
    excluded = [vectors.rows(question) if exclude_query else [] for question in questions]
    return vectors.nearest(queries, excluded, n, formula=METHODS[method], restrict=restrict)


def build_analogy_query(
    vectors: KeyedVectors, a: str, b: str, c: str, method: Method = "3CosAdd"
) -> NDArray[numpy.float64]:
    """Compute the unit vectors that the method's formula takes, [directions d]."""
    units = numpy.stack([vectors.unit_vector(word) for word in (a, b, c)])
    if method == "3CosMul":
        return units
    total = units[1] - units[0] + units[2]
    if not numpy.abs(total).max() > ROUNDING:
        raise UserError(
            f"{b!r} − {a!r} + {c!r} cancel out: the cosine of the sum is undefined",
            where=f"{a}, {b}, {c}",
            hint="Query other words.",
        )
    return vectors.unit_vector(total)[None]


def rank_by_agreement(vectors: KeyedVectors, words: Sequence[str]) -> list[Neighbour]:
    """Rank words by their cosine with the mean of all their unit vectors; the odd one comes last.

    Raises:
        UserError: for fewer than three words.
    """
    if isinstance(words, str):
        raise UserError("expected a list of words, got one string", where="words", hint="Write [word, word, word].")
    words = list(dict.fromkeys(words))
    if len(words) < 3:
        raise UserError(
            f"expected at least three different words, got {len(words)}",
            where="words",
            hint="Of two words, neither is the odd one out.",
        )
    cosines = vectors.cosines(words, vectors.unit_vector(words))
    order = numpy.argsort(-cosines, kind="stable")
    return [Neighbour(words[place], float(cosines[place])) for place in order]

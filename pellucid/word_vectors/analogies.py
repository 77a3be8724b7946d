"""a is to b as c is to which word? And: which word does not belong?

    3CosAdd   cos(d, b − a + c), the vectors of length 1 before they are added
    3CosMul   cos'(d, b) · cos'(d, c) / (cos'(d, a) + 0.001), with cos' = (1 + cos) / 2

3CosMul weighs the three terms by ratio, so that one large cosine does not decide alone.

Source:
    Mikolov, Yih & Zweig 2013, eq. 4; Levy & Goldberg 2014, eq. 3 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy
from numpy.typing import NDArray

from pellucid.errors import UserError
from pellucid.word_vectors.neighbours import COSINE, ROUNDING, Neighbour, ScoreFormula

if TYPE_CHECKING:
    from pellucid.word_vectors.vectors import WordVectors

__all__ = ["METHODS", "Method", "analogies", "build_analogy_query", "rank_by_agreement"]

Method = Literal["3CosAdd", "3CosMul"]
_EPSILON = 0.001


def _multiply(cosines: NDArray[Any]) -> NDArray[Any]:
    a, b, c = numpy.maximum((1 + cosines) / 2, 0)  # a cosine a rounding below −1 must not turn a sign
    product: NDArray[Any] = b * c / (a + _EPSILON)
    return product


METHODS: dict[str, ScoreFormula] = {"3CosAdd": COSINE, "3CosMul": ScoreFormula(_multiply, (-1, 1, 1))}


def analogies(
    vectors: WordVectors,
    questions: Sequence[tuple[str, str, str]],
    n: int = 10,
    *,
    method: Method = "3CosAdd",
    exclude_query: bool = True,
    restrict: int | None = None,
) -> list[list[Neighbour]]:
    """Return for each question (a, b, c) its `n` best answers with the method's score, best first.

    Raises:
        UnknownWordError: for a word outside the vocabulary.
        UserError: for a question whose sum points nowhere.
    """
    if method not in METHODS:
        raise UserError(f"unknown method {method!r} for analogies", hint=f"Use {' or '.join(METHODS)}.")
    queries = [build_analogy_query(vectors, *question, method=method) for question in questions]
    excluded = [vectors.rows(question) if exclude_query else [] for question in questions]
    return vectors.nearest(queries, excluded, n, formula=METHODS[method], restrict=restrict)


def build_analogy_query(
    vectors: WordVectors, a: str, b: str, c: str, method: Method = "3CosAdd"
) -> NDArray[numpy.float64]:
    """Return the directions that the method's formula takes, [directions d]."""
    units = numpy.stack([vectors.unit_vector(word) for word in (a, b, c)])
    if method == "3CosMul":
        return units
    total = units[1] - units[0] + units[2]
    if not numpy.abs(total).max() > ROUNDING:
        raise UserError(f"{b!r} − {a!r} + {c!r} cancel out: the sum points nowhere", hint="Ask about other words.")
    return vectors.unit_vector(total)[None]


def rank_by_agreement(vectors: WordVectors, words: Sequence[str]) -> list[Neighbour]:
    """Return words by their cosine with the mean of all their directions, the best fitting first, the odd one last.

    Raises:
        UserError: for fewer than three words: of two, neither is odd.
    """
    if isinstance(words, str):
        raise UserError("expected a list of words, got one string", hint="Write [word, word, word].")
    words = list(dict.fromkeys(words))
    if len(words) < 3:
        raise UserError(f"expected at least three different words, got {len(words)}", hint="Of two, neither is odd.")
    cosines = vectors.cosines(words, vectors.unit_vector(words))
    order = numpy.argsort(-cosines, kind="stable")
    return [Neighbour(words[place], float(cosines[place])) for place in order]

"""An axis between two poles of meaning, and the position of each word on it.

    axis = unit(mean of the right words' unit vectors − mean of the left words' unit vectors)

A word's position is its cosine with the axis: negative towards the left, positive towards the right. Its size depends
on the dimension and the training: compare words of one model, not numbers of two models.

Source:
    An, Kwak & Ahn 2018 (SemAxis), sec. 3; Kozlowski, Taddy & Evans 2019 average differences of pairs, which is the
    same for lists of equal length.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from pellucid.errors import UserError
from pellucid.word_vectors.keyed_vectors import KeyedVectors
from pellucid.word_vectors.neighbours import ROUNDING, Neighbour

__all__ = ["SemanticAxis", "build_axis"]


@dataclass(frozen=True, eq=False, repr=False)
class SemanticAxis:
    """A direction between two groups of words.

    Attributes:
        left_words, right_words: the words at its two ends.
        direction: float64 [d], a unit vector from left to right.
    """

    vectors: KeyedVectors
    left_words: tuple[str, ...]
    right_words: tuple[str, ...]
    direction: NDArray[numpy.float64]

    def __repr__(self) -> str:
        return f"<axis from {', '.join(self.left_words)} to {', '.join(self.right_words)}>"

    def position(self, word: str) -> float:
        """Compute a word's cosine with the axis: negative to the left, positive to the right."""
        return float(self.vectors.cosines([word], self.direction)[0])

    def positions(self, words: Sequence[str]) -> list[Neighbour]:
        """Compute the positions of words, sorted from left to right."""
        words = [words] if isinstance(words, str) else words
        found = self.vectors.cosines(words, self.direction)
        order = numpy.argsort(found, kind="stable")
        return [Neighbour(words[place], float(found[place])) for place in order]

    def extremes(
        self, n: int = 10, *, exclude_query: bool = True, restrict: int | None = None
    ) -> tuple[list[Neighbour], list[Neighbour]]:
        """Find the `n` words furthest to the left and the `n` furthest to the right, the furthest first.

        Args:
            exclude_query: leave out the words that define the axis.
            restrict: search only this many of the most frequent words.
        """
        own = self.vectors.rows([*self.left_words, *self.right_words]) if exclude_query else []
        ends = [-self.direction[None], self.direction[None]]
        left, right = self.vectors.nearest(ends, [own, own], n, restrict=restrict)
        return [Neighbour(word, -score) for word, score in left], right


def build_axis(vectors: KeyedVectors, left_words: Sequence[str], right_words: Sequence[str]) -> SemanticAxis:
    """Build the axis from the left words to the right ones.

    Raises:
        UserError: for an empty side, a word on both sides, or two sides with the same mean direction.
    """
    sides = []
    for name, words in (("left", left_words), ("right", right_words)):
        if isinstance(words, str) or not len(words):
            raise UserError(
                f"expected a list of words for the {name} end of the axis, got {words!r}",
                where=f"{name}_words",
                hint="Write [word, word, …].",
            )
        sides.append(tuple(dict.fromkeys(words)))
    shared = [word for word in sides[0] if word in sides[1]]
    if shared:
        raise UserError(
            f"{shared[0]!r} is on both sides of the axis", where="right_words", hint="Remove it from one side."
        )
    left, right = (sum(vectors.unit_vector(word) for word in side) / len(side) for side in sides)
    difference = numpy.asarray(right - left)
    if not numpy.abs(difference).max() > ROUNDING:
        raise UserError(
            "both sides of the axis have the same direction",
            where="left_words, right_words",
            hint="Choose words that differ in meaning.",
        )
    return SemanticAxis(vectors, sides[0], sides[1], vectors.unit_vector(difference))

"""A direction between two poles of meaning, and where each word lies on it.

    axis = û(mean of the right words' directions − mean of the left words' directions)

A word's position is its cosine with the axis: −1 towards the left, 1 towards the right, 0 at neither. The size of a
position depends on d and on the training: compare words of one model, not numbers of two.

Source:
    An, Kwak & Ahn 2018 (SemAxis), sec. 3; Kozlowski, Taddy & Evans 2019, who average differences of pairs, which is the
    same for lists of equal length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy
from numpy.typing import NDArray

from pellucid.errors import UserError
from pellucid.word_vectors.neighbours import ROUNDING, Neighbour

if TYPE_CHECKING:
    from pellucid.word_vectors.vectors import WordVectors

__all__ = ["Axis", "build_axis"]


@dataclass(frozen=True, eq=False, repr=False)
class Axis:
    """A direction with names for its ends.

    Attributes:
        left_words, right_words: what it was made from.
        direction: float64 [d], of length 1, from left to right.
    """

    vectors: WordVectors
    left_words: tuple[str, ...]
    right_words: tuple[str, ...]
    direction: NDArray[numpy.float64]

    def __repr__(self) -> str:
        return f"<axis from {', '.join(self.left_words)} to {', '.join(self.right_words)}>"

    def position(self, word: str) -> float:
        """Return a word's cosine with the axis: negative to the left, positive to the right."""
        return float(self.vectors.cosines([word], self.direction)[0])

    def positions(self, words: Sequence[str]) -> list[Neighbour]:
        """Return words with their positions, from left to right."""
        words = [words] if isinstance(words, str) else words
        found = self.vectors.cosines(words, self.direction)
        order = numpy.argsort(found, kind="stable")
        return [Neighbour(words[place], float(found[place])) for place in order]

    def extremes(
        self, n: int = 10, *, exclude_query: bool = True, restrict: int | None = None
    ) -> tuple[list[Neighbour], list[Neighbour]]:
        """Return the `n` words furthest to the left and the `n` furthest to the right, the furthest first.

        Args:
            exclude_query: leave out the words that the axis was made from.
            restrict: look among the most frequent words only, so many.
        """
        own = self.vectors.rows([*self.left_words, *self.right_words]) if exclude_query else []
        ends = [-self.direction[None], self.direction[None]]
        left, right = self.vectors.nearest(ends, [own, own], n, restrict=restrict)
        return [Neighbour(word, -score) for word, score in left], right


def build_axis(vectors: WordVectors, left_words: Sequence[str], right_words: Sequence[str]) -> Axis:
    """Make the axis from the left words to the right ones.

    Raises:
        UserError: for an empty side, a word on both sides, or sides that point the same way.
    """
    sides = []
    for name, words in (("left", left_words), ("right", right_words)):
        if isinstance(words, str) or not len(words):
            raise UserError(f"expected a list of words for the {name} end of the axis, got {words!r}")
        sides.append(tuple(dict.fromkeys(words)))
    shared = [word for word in sides[0] if word in sides[1]]
    if shared:
        raise UserError(f"{shared[0]!r} stands on both sides of the axis", hint="Leave it out of one.")
    left, right = (sum(vectors.unit_vector(word) for word in side) / len(side) for side in sides)
    difference = numpy.asarray(right - left)
    if not numpy.abs(difference).max() > ROUNDING:
        raise UserError("both sides of the axis point the same way: there is nothing between them")
    return Axis(vectors, sides[0], sides[1], vectors.unit_vector(difference))

"""Align the words of parallel text in both directions, learning from the text itself.

    aligner = fit_aligner([("el perro", "the dog"), ("el gato", "the cat")])
    links = list(aligner.align())          # for each pair (source position, target position) of the linked words
    best = list(aligner.translations())    # which word translates which

Words are runs of letters or digits and single punctuation marks, ignoring case; in scripts without spaces between words
(Chinese, Japanese, Thai, …) they are single characters.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy
from numpy.typing import NDArray

from pellucid.alignment.fitting import MAX_TOKENS, FitStep, fit_lexicon
from pellucid.alignment.lexicon import Lexicon, Link
from pellucid.alignment.symmetrisation import SYMMETRISATIONS, Symmetrisation
from pellucid.corpus.words import is_unspaced, split_words
from pellucid.errors import UserError

__all__ = ["IndexedPairs", "IndexedSentences", "WordAligner", "WordTranslation", "fit_aligner"]

_CHUNK = 500  # pairs aligned at once
_NO_IDS: NDArray[numpy.int32] = numpy.zeros(0, numpy.int32)


class IndexedSentences:
    """The sentences of one side as ids of case-folded words: a flat array, and where each sentence ends in it.

    Attributes:
        ids_of_words: id of each word, in the order of first occurrence.
    """

    def __init__(self) -> None:
        self.ids_of_words: dict[str, int] = {}
        self._ids = array("i")
        self._ends = array("q", [0])

    def append(self, text: str) -> None:
        """Add a sentence."""
        known = self.ids_of_words
        self._ids.extend(known.setdefault(word.casefold(), len(known)) for word in split_words(text))
        self._ends.append(len(self._ids))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, index: int) -> NDArray[numpy.int32]:
        start, end = self._ends[index], self._ends[index + 1]
        return numpy.frombuffer(self._ids, numpy.int32, end - start, 4 * start) if end > start else _NO_IDS

    @property
    def unit(self) -> Literal["characters", "words"]:
        """What most of the words are: `characters` of a script without spaces, or `words`."""
        counts = numpy.bincount(numpy.frombuffer(self._ids, numpy.int32) if len(self._ids) else _NO_IDS)
        letters = [(n, word) for word, n in zip(self.ids_of_words, counts.tolist(), strict=True) if word.isalpha()]
        single = sum(count for count, word in letters if is_unspaced(word))
        return "characters" if 2 * single > sum(count for count, _ in letters) else "words"


class IndexedPairs:
    """Sentence pairs as word ids; memory holds the ids and the words, not the texts."""

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self.source, self.target = IndexedSentences(), IndexedSentences()
        for source, target in pairs:
            self.append(source, target)

    def append(self, source: str, target: str) -> None:
        """Add a pair."""
        self.source.append(source)
        self.target.append(target)

    def __len__(self) -> int:
        return len(self.source)


class WordTranslation(NamedTuple):
    """A source word, a target word, and how probably each translates the other.

    Attributes:
        probability: p(target | source).
        reverse: p(source | target).
    """

    source: str
    target: str
    probability: float
    reverse: float


@dataclass(frozen=True)
class WordAligner:
    """The lexicons of both directions, and the pairs they were fitted to.

    Args:
        forward, backward: p(target word | source word), and p(source word | target word).
    """

    pairs: IndexedPairs
    forward: Lexicon
    backward: Lexicon

    def align(self, symmetrisation: Symmetrisation = "grow-diag-final-and") -> Iterator[list[Link]]:
        """Yield the links of each pair, in order; a pair with an empty side has none.

        Args:
            symmetrisation: how the two directions are combined; `forward` and `backward` are one direction alone.
        """
        combine = SYMMETRISATIONS[symmetrisation]
        for start in range(0, len(self.pairs), _CHUNK):
            chunk = range(start, min(start + _CHUNK, len(self.pairs)))
            source, target = ([side[n] for n in chunk] for side in (self.pairs.source, self.pairs.target))
            forward = self.forward.batch_links(source, target)
            backward = [[(i, j) for j, i in links] for links in self.backward.batch_links(target, source)]
            yield from map(combine, forward, backward)

    def translations(self, min_probability: float = 0.01) -> Iterator[WordTranslation]:
        """Yield which word translates which: the most frequent source word first, then the most probable target word.

        Args:
            min_probability: entries with a smaller p(target | source) are left out.
        """
        sources, targets = list(self.pairs.source.ids_of_words), list(self.pairs.target.ids_of_words)
        for source in numpy.argsort(-self.forward.source_counts, kind="stable").tolist():
            for target, probability in self.forward.translations(source, len(targets)):
                if probability < min_probability:
                    break
                columns, reverse = self.backward.row(target)
                index = int(numpy.searchsorted(columns, source))
                found = float(reverse[index]) if index < len(columns) and columns[index] == source else 0.0
                yield WordTranslation(sources[source], targets[target], probability, found)


def fit_aligner(
    pairs: IndexedPairs | Iterable[tuple[str, str]],
    *,
    iterations: int = 5,
    diagonal_tension: float = 6.0,
    on_progress: Callable[[FitStep], None] | None = None,
) -> WordAligner:
    """Learn from sentence pairs which word translates which, in both directions.

    Args:
        iterations: iterations of expectation maximisation for each direction.
        diagonal_tension: how strongly links near the diagonal are preferred, from 0 to 60; 0 is not at all.
        on_progress: called after each iteration of each direction.

    Raises:
        UserError: if no pair can be used.
        ValueError: for parameters out of range.
    """
    if not isinstance(pairs, IndexedPairs):
        pairs = IndexedPairs(pairs)

    def fit(source: IndexedSentences, target: IndexedSentences) -> Lexicon:
        sizes = len(source.ids_of_words), len(target.ids_of_words)
        return fit_lexicon(source, target, *sizes, iterations, diagonal_tension, on_progress=on_progress)

    def usable(source: NDArray[numpy.int32], target: NDArray[numpy.int32]) -> bool:
        return min(len(source), len(target)) > 0 and max(len(source), len(target)) <= MAX_TOKENS

    if not any(usable(pairs.source[n], pairs.target[n]) for n in range(len(pairs))):
        raise UserError(
            "nothing to align: no pair has words on both sides",
            where="sentence pairs",
            hint=f"Give pairs with 1 to {MAX_TOKENS} words on each side.",
        )
    return WordAligner(pairs, fit(pairs.source, pairs.target), fit(pairs.target, pairs.source))

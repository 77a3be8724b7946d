"""Word vectors as data: a matrix with a word for each row, and search by cosine."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy
from numpy.typing import ArrayLike, NDArray

from pellucid.errors import UserError
from pellucid.word_vectors.files.problems import LoadReport
from pellucid.word_vectors.neighbours import (
    COSINE,
    ROUNDING,
    Floats,
    Neighbour,
    ScoreFormula,
    SearchIndex,
    build_index,
    exact_cosines,
    search,
    unit_rows,
)
from pellucid.word_vectors.spelling import suggest_spellings
from pellucid.word_vectors.vocabulary import Vocabulary, read_only

__all__ = ["KeyedVectors", "Query", "UnknownWordError"]

Query = str | Sequence[str] | ArrayLike
"""A word, a list of words (the mean of their unit vectors), or a vector [d]."""


class UnknownWordError(UserError, KeyError):
    """A word that is not in the vocabulary."""

    __str__ = UserError.__str__


@dataclass(frozen=True, eq=False, repr=False, init=False)
class KeyedVectors:
    """A vector for each word of a vocabulary, and search by cosine.

    Rows are in vocabulary order, usually the most frequent word first. Cosines are accurate to float64 and do not
    depend on the block or the batch in which they are computed. A word whose vector is all zeros has no direction: it
    is never returned as a neighbour, and querying it is an error.

    `pellucid.WordVectors` adds loading, saving, training and analysis.

    Args:
        words: distinct strings; a list or a `Vocabulary`.
        input_vectors: [vocab_size d]; float32 is kept without a copy, even when memory-mapped, and becomes read-only.
        output_vectors: [vocab_size d], the other matrix of the training run; None if it was not kept.
        counts: int [vocab_size], occurrences of each word in the training text; None if unknown.
        metadata: how the vectors were made; any JSON value.
        report: problems of the file they were read from; None if they were not read from a file.

    Raises:
        UserError: for an empty vocabulary, a repeated word, or shapes that do not match.
    """

    vocabulary: Vocabulary
    input_vectors: NDArray[numpy.float32]
    output_vectors: NDArray[numpy.float32] | None
    counts: NDArray[numpy.int64] | None
    metadata: Mapping[str, Any]
    report: LoadReport | None

    def __init__(
        self,
        words: Iterable[str],
        input_vectors: ArrayLike,
        output_vectors: ArrayLike | None = None,
        counts: ArrayLike | None = None,
        metadata: Mapping[str, Any] | None = None,
        report: LoadReport | None = None,
    ) -> None:
        if isinstance(words, str):
            raise UserError("expected a list of words, got one string", where="words", hint="Write [word, word, …].")
        vocabulary = words if isinstance(words, Vocabulary) else Vocabulary.of(words)
        if not len(vocabulary):
            raise UserError("the vocabulary is empty", where="words", hint="Word vectors need at least one word.")
        rows = _matrix(input_vectors, len(vocabulary), "input_vectors")
        output = None if output_vectors is None else _matrix(output_vectors, len(vocabulary), "output_vectors")
        if output is not None and output.shape != rows.shape:
            raise UserError(
                f"input and output vectors differ in dimension: {rows.shape[1]} and {output.shape[1]}",
                where="output_vectors",
                hint="Pass the two matrices of one training run.",
            )
        fields = {
            "vocabulary": vocabulary,
            "input_vectors": rows,
            "output_vectors": output,
            "counts": None if counts is None else _counts(counts, len(vocabulary)),
            "metadata": dict(metadata or {}),
            "report": report,
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def words(self) -> Sequence[str]:
        """The words in row order."""
        return self.vocabulary

    @property
    def dim(self) -> int:
        """Vector dimension."""
        return int(self.input_vectors.shape[1])

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.vocabulary

    def __repr__(self) -> str:
        return f"<vectors of {len(self):,} words, dim = {self.dim}>"

    def __getitem__(self, word: str) -> NDArray[numpy.float32]:
        """Look up the input vector of a word, float32 [d], read-only.

        Raises:
            UnknownWordError: a UserError and a KeyError; suggests similarly spelled words.
        """
        vector: NDArray[numpy.float32] = self.input_vectors[self.row(word)]
        return vector

    def row(self, word: str) -> int:
        """Look up the row of a word.

        Raises:
            UnknownWordError: a UserError and a KeyError; suggests similarly spelled words.
        """
        return self.rows([word])[0]

    def rows(self, words: Iterable[str]) -> list[int]:
        """Look up the rows of words.

        Raises:
            UnknownWordError: names all unknown words and suggests similarly spelled ones.
        """
        words = [words] if isinstance(words, str) else list(words)
        found = [self.vocabulary.find(word) for word in words]
        unknown = [word for word, row in zip(words, found, strict=True) if row is None]
        if unknown:
            raise self._unknown(unknown)
        return [row for row in found if row is not None]

    def similarity(self, one: Query, other: Query) -> float:
        """Compute the cosine of two words (or lists of words, or vectors)."""
        return float((self.unit_vector(one) * self.unit_vector(other)).sum())

    def similar(
        self, query: Query, n: int = 10, *, exclude_query: bool = True, restrict: int | None = None
    ) -> list[Neighbour]:
        """Find the `n` words with the highest cosine to the query, best first; fewer if the vocabulary is smaller.

        Args:
            query: a word, a list of words (the mean of their unit vectors), or a vector [d].
            exclude_query: leave the words of the query out of the answer, as is usual.
            restrict: search only this many of the most frequent words: by `counts`, or the first rows without counts.

        Raises:
            UnknownWordError: for a word outside the vocabulary.
            UserError: for a zero query vector.
        """
        return self.similar_batch([query], n, exclude_query=exclude_query, restrict=restrict)[0]

    def similar_batch(
        self, queries: Iterable[Query], n: int = 10, *, exclude_query: bool = True, restrict: int | None = None
    ) -> list[list[Neighbour]]:
        """Run `similar` for many queries, which share each pass over the matrix."""
        queries = [queries] if isinstance(queries, str) else list(queries)
        named: list[Any] = [query if isinstance(query, str) or _is_words(query) else [] for query in queries]
        excluded = [self.rows(words) if exclude_query else [] for words in named]
        return self.nearest([self.unit_vector(query)[None] for query in queries], excluded, n, restrict=restrict)

    def nearest(
        self,
        queries: Sequence[Floats],
        excluded: Sequence[Sequence[int]],
        n: int,
        *,
        formula: ScoreFormula = COSINE,
        restrict: int | None = None,
    ) -> list[list[Neighbour]]:
        """Find the `n` best-scoring words for each query, without the excluded rows.

        Args:
            queries: float64 [directions d] each, unit vectors, as many as the formula takes.
        """
        if n < 1:
            raise UserError(f"expected at least one neighbour, got n = {n}", where="n", hint="Pass a positive number.")
        limit, allowed = self.most_frequent(restrict)
        more = max((len(set(rows)) for rows in excluded), default=0)
        found = search(self.search_index, queries, n + more, formula=formula, limit=limit, allowed=allowed)
        return [
            [
                Neighbour(self.words[row], score)
                for row, score in zip(rows.tolist(), scores.tolist(), strict=True)
                if row not in own
            ][:n]
            for (rows, scores), own in zip(found, map(set, excluded), strict=True)
        ]

    @cached_property
    def search_index(self) -> SearchIndex:
        """The input vectors with their norms, computed once for all searches.

        Raises:
            UserError: if a vector contains NaN or infinity.
        """
        index = build_index(self.input_vectors)
        if len(index.not_finite):
            row = int(index.not_finite[0])
            raise UserError(
                f"the vector of {self.words[row]!r} (row {row}) contains NaN or infinity",
                where="input_vectors",
                hint=f"This concerns {len(index.not_finite):,} of {len(self):,} vectors: remove these words, or train "
                "again.",
            )
        return index

    def check_finite(self) -> None:
        """Check that no input vector contains NaN or infinity.

        Raises:
            UserError: if one does.
        """
        _ = self.search_index

    def unit_vector(self, query: Query) -> Floats:
        """Normalize a query to length 1, float64 [d].

        Raises:
            UserError: for a zero vector, or words whose vectors cancel out.
        """
        if isinstance(query, str):
            return _unit(self[query], f"the vector of {query!r} is zero", query)
        if _is_words(query):
            words: Sequence[str] = query  # type: ignore[assignment]
            total = sum(map(self.unit_vector, words))
            return _unit(total, f"the vectors of {', '.join(words)} cancel out", ", ".join(words), ROUNDING)
        try:
            vector = numpy.asarray(query, numpy.float64)
        except (ValueError, TypeError):
            vector = numpy.empty(0)
        if vector.shape != (self.dim,):
            raise UserError(
                f"expected a word, a list of words or a vector of dimension {self.dim}, got {_described(query)}",
                where="query",
                hint="Pass several queries to similar_batch.",
            )
        if not numpy.isfinite(vector).all():
            raise UserError("the query vector contains NaN or infinity", where="query", hint="Pass finite numbers.")
        return _unit(vector, "the query vector is zero", "query")

    def most_frequent(self, restrict: int | None) -> tuple[int | None, NDArray[numpy.bool_] | None]:
        """Select the `restrict` most frequent words: how many first rows to search, and which of them."""
        if restrict is None or restrict >= len(self):
            return None, None
        if restrict < 1:
            raise UserError(
                f"expected to search at least one word, got restrict = {restrict}",
                where="restrict",
                hint="Pass a positive number, or None to search all words.",
            )
        if self.counts is None or not (numpy.diff(self.counts) > 0).any():
            return restrict, None
        allowed = numpy.zeros(len(self), numpy.bool_)
        allowed[numpy.argsort(-self.counts, kind="stable")[:restrict]] = True
        return None, allowed

    def most_frequent_rows(self, restrict: int | None) -> NDArray[numpy.int64]:
        """List the rows of the `restrict` most frequent words that have a direction, most frequent first."""
        limit, allowed = self.most_frequent(restrict)
        rows = numpy.arange(len(self))[:limit] if allowed is None else numpy.flatnonzero(allowed)
        if self.counts is not None:
            rows = rows[numpy.argsort(-self.counts[rows], kind="stable")]
        found: NDArray[numpy.int64] = rows[~self.search_index.zero[rows]]
        return found

    def cosines(self, words: Sequence[str], direction: Floats) -> Floats:
        """Compute the cosine of each word with a unit vector, float64 [words]."""
        words = [words] if isinstance(words, str) else words
        rows = self.rows(words)
        for word, row in zip(words, rows, strict=True):
            if self.search_index.zero[row]:
                raise _no_direction(f"the vector of {word!r} is zero", word)
        cosines: Floats = exact_cosines(self.input_vectors[rows], direction[None])[0]
        return cosines

    def unit_rows(self, rows: Sequence[int] | NDArray[numpy.int64]) -> Floats:
        """Normalize some rows of the input vectors to length 1, float64 [rows d]; none may be zero."""
        return unit_rows(self.input_vectors[rows])

    def _unknown(self, words: list[Any]) -> UnknownWordError:
        names = list(dict.fromkeys(map(repr, words)))
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")
        near = {word: suggest_spellings(self.vocabulary, word) for word in words[:3] if isinstance(word, str)}
        hints = [f"Similar to {word!r}: {', '.join(map(repr, found))}" for word, found in near.items() if found]
        return UnknownWordError(
            f"{shown} {'is' if len(names) == 1 else 'are'} not among the {len(self):,} words",
            where="vocabulary",
            hint=". ".join(hints) or "Lookup is case-sensitive, and rare words are often dropped (min_count).",
        )


def _unit(vector: ArrayLike, why: str, where: str, least: float = 0.0) -> Floats:
    """Normalize a vector to length 1.

    Raises:
        UserError: with the reason `why`, if no component is larger than `least`.
    """
    wide = numpy.asarray(vector, numpy.float64)
    largest = float(numpy.abs(wide).max(initial=0))
    if not largest > least:
        raise _no_direction(why, where)
    wide = wide / largest  # squares of tiny numbers would vanish, those of huge ones overflow
    unit: Floats = wide / float(numpy.sqrt((wide * wide).sum()))
    return unit


def _no_direction(why: str, where: str) -> UserError:
    return UserError(f"{why}: its cosine is undefined", where=where, hint="Query other words.")


def _is_words(query: Any) -> bool:
    return isinstance(query, Sequence) and len(query) > 0 and all(isinstance(word, str) for word in query)


def _described(query: Any) -> str:
    shape = getattr(query, "shape", None)
    return f"an array of shape {shape}" if shape is not None else repr(query)[:60]


def _matrix(given: ArrayLike, vocab_size: int, name: str) -> NDArray[numpy.float32]:
    array = numpy.asarray(given)
    if array.ndim != 2 or len(array) != vocab_size or array.shape[1] < 1 or array.dtype.kind not in "fiu":
        raise UserError(
            f"expected {vocab_size:,} rows of numbers as {name}, got {array.dtype} of shape {array.shape}",
            where=name,
            hint="Pass one row per word, all of the same length.",
        )
    return read_only(numpy.ascontiguousarray(array, numpy.float32))


def _counts(given: ArrayLike, vocab_size: int) -> NDArray[numpy.int64]:
    counts = numpy.asarray(given)
    if counts.shape != (vocab_size,) or counts.dtype.kind not in "iu":
        raise UserError(
            f"expected one integer per word as counts, got {counts.dtype} of shape {counts.shape}",
            where="counts",
            hint="Pass the number of occurrences of each word, in row order.",
        )
    return read_only(counts.astype(numpy.int64, copy=False))

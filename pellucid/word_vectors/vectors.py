"""Words as vectors: what a finished training, or a file from elsewhere, is asked."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy
from numpy.typing import ArrayLike, NDArray

from pellucid.errors import UserError
from pellucid.word_vectors.neighbours import (
    COSINE,
    ROUNDING,
    Neighbour,
    ScoreFormula,
    SearchIndex,
    build_index,
    exact_cosines,
    search,
)
from pellucid.word_vectors.spelling import suggest_spellings
from pellucid.word_vectors.vocabulary import Vocabulary

if TYPE_CHECKING:
    from pellucid.inspection import WordLook
    from pellucid.word_vectors.axes import Axis
    from pellucid.word_vectors.bias import RipaScores, WeatResult
    from pellucid.word_vectors.concordance import NeighbourInText
    from pellucid.word_vectors.drift import Drift
    from pellucid.word_vectors.encoded_text import TextSource
    from pellucid.word_vectors.files.format_detection import Format
    from pellucid.word_vectors.files.problems import LoadReport
    from pellucid.word_vectors.stability import Stability
    from pellucid.word_vectors.training import VectorsStep

__all__ = ["Query", "UnknownWordError", "VectorFileWarning", "WordVectors"]

Query = str | Sequence[str] | ArrayLike
"""A word, a list of words (the mean of their directions), or a vector [d]."""

Floats = NDArray[numpy.float64]

_METHODS_ELSEWHERE = {
    "distance": "1 − similarity",
    "doesnt_match": "odd_one_out",
    "evaluate_word_analogies": "analogy_accuracy of pellucid.evaluation.word_vectors",
    "evaluate_word_pairs": "similarity_correlation of pellucid.evaluation.word_vectors",
    "get_vecattr": "counts[row(word)]",
    "get_vector": "vectors[word]",
    "index_to_key": "words",
    "key_to_index": "row(word)",
    "load_word2vec_format": "load",
    "most_similar": "similar, and analogy for three words",
    "most_similar_cosmul": 'analogy with method="3CosMul"',
    "n_similarity": "similarity, of lists of words",
    "save_word2vec_format": "save",
    "similar_by_vector": "similar",
    "similar_by_word": "similar",
    "vectors": "input_vectors",
    "wv": "the vectors themselves",
}


class UnknownWordError(UserError, KeyError):
    """A word that is not in the vocabulary."""

    __str__ = UserError.__str__


class VectorFileWarning(UserWarning):
    """Something was odd about a file of vectors; `vectors.report` has all of it."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class WordVectors:
    """A vector for each word of a vocabulary.

    Rows are in the order of the vocabulary, as a rule the most frequent word first. Cosines are computed to float64's
    precision, whatever the block or the batch they are computed in. A word whose vector is all zeros has no direction:
    it is nobody's neighbour, and to ask for its own is an error.

    Args:
        words: any strings, each once; a list or a `Vocabulary`.
        input_vectors: [vocab_size d]; float32 is kept as it is, perhaps mapped from a disk, and becomes read-only.
        output_vectors: [vocab_size d], the other matrix of the training; None where it was not kept.
        counts: int [vocab_size], how often each word stood in the text; None if nobody knows.
        metadata: how they were made; anything that JSON holds.
        report: what was odd about the file they come from; None if they come from none.

    Raises:
        UserError: for no words at all, for a word given twice, and for sizes that do not fit.
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
            raise UserError("expected a list of words, got one string", hint="Write [word, word, …].")
        vocabulary = words if isinstance(words, Vocabulary) else Vocabulary.of(words)
        if not len(vocabulary):
            raise UserError("there are no words: word vectors need at least one")
        rows = _matrix(input_vectors, len(vocabulary), "input_vectors")
        output = None if output_vectors is None else _matrix(output_vectors, len(vocabulary), "output_vectors")
        if output is not None and output.shape != rows.shape:
            raise UserError(f"input and output vectors differ: {rows.shape[1]} and {output.shape[1]} numbers")
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
        """The words in the order of their rows."""
        return self.vocabulary

    @property
    def dim(self) -> int:
        """How many numbers a vector has."""
        return int(self.input_vectors.shape[1])

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.vocabulary

    def __repr__(self) -> str:
        return f"<vectors of {len(self):,} words, d = {self.dim}>"

    def __getitem__(self, word: str) -> NDArray[numpy.float32]:
        """Return the input vector of a word, float32 [d], read-only.

        Raises:
            UnknownWordError: a UserError and a KeyError; names the words spelt most like it.
        """
        vector: NDArray[numpy.float32] = self.input_vectors[self.row(word)]
        return vector

    def row(self, word: str) -> int:
        """Return the row of a word.

        Raises:
            UnknownWordError: a UserError and a KeyError; names the words spelt most like it.
        """
        return self.rows([word])[0]

    def rows(self, words: Iterable[str]) -> list[int]:
        """Return the rows of words.

        Raises:
            UnknownWordError: names all that are unknown, and the words spelt most like them.
        """
        words = [words] if isinstance(words, str) else list(words)
        found = [self.vocabulary.find(word) for word in words]
        unknown = [word for word, row in zip(words, found, strict=True) if row is None]
        if unknown:
            raise self._unknown(unknown)
        return [row for row in found if row is not None]

    def similarity(self, one: Query, other: Query) -> float:
        """Return the cosine of two words (or lists of words, or vectors)."""
        return float((self.unit_vector(one) * self.unit_vector(other)).sum())

    def similar(
        self, query: Query, n: int = 10, *, exclude_query: bool = True, restrict: int | None = None
    ) -> list[Neighbour]:
        """Return the `n` words of highest cosine with the query, best first; fewer if there are not as many.

        Args:
            query: a word, a list of words (the mean of their directions), or a vector [d].
            exclude_query: leave the words of the query out of the answer, as is the custom.
            restrict: look among the most frequent words only, so many; by `counts`, or the first rows without them.

        Raises:
            UnknownWordError: for a word outside the vocabulary.
            UserError: for a query that points nowhere.
        """
        return self.similar_batch([query], n, exclude_query=exclude_query, restrict=restrict)[0]

    def similar_batch(
        self, queries: Iterable[Query], n: int = 10, *, exclude_query: bool = True, restrict: int | None = None
    ) -> list[list[Neighbour]]:
        """Return for each query what `similar` returns; many queries share the reading of the vectors."""
        queries = [queries] if isinstance(queries, str) else list(queries)
        excluded = [self._rows_of_query(query) if exclude_query else [] for query in queries]
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
        """Return for each query its `n` best words, without the excluded rows.

        Args:
            queries: float64 [directions d] each, directions of length 1, as many as the formula takes.
        """
        if n < 1:
            raise UserError(f"expected a number of words from 1 on, got {n}")
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

    def analogy(
        self,
        a: str,
        b: str,
        c: str,
        n: int = 10,
        *,
        method: Literal["3CosAdd", "3CosMul"] = "3CosAdd",
        exclude_query: bool = True,
        restrict: int | None = None,
    ) -> list[Neighbour]:
        """Return the `n` best words for: a is to b as c is to …, `analogy("man", "king", "woman")`.

        Args:
            method: how a word is scored, see `pellucid.word_vectors.analogies`.
            exclude_query: leave a, b and c out of the answer, as is the custom; without it one of them often wins.
            restrict: look among the most frequent words only, so many.
        """
        from pellucid.word_vectors.analogies import analogies

        return analogies(self, [(a, b, c)], n, method=method, exclude_query=exclude_query, restrict=restrict)[0]

    def odd_one_out(self, words: Sequence[str]) -> str:
        """Return the word that points least where the others point."""
        from pellucid.word_vectors.analogies import rank_by_agreement

        return rank_by_agreement(self, words)[-1].word

    def axis(self, left_words: Sequence[str], right_words: Sequence[str]) -> Axis:
        """Return the direction from the left words to the right ones, on which every word has its place."""
        from pellucid.word_vectors.axes import build_axis

        return build_axis(self, left_words, right_words)

    def weat(
        self,
        x: Sequence[str],
        y: Sequence[str],
        a: Sequence[str],
        b: Sequence[str],
        *,
        permutations: int = 100_000,
        seed: int = 1,
        skip_unknown: bool = False,
    ) -> WeatResult:
        """Test whether the words x lie nearer to a than to b, compared with the words y (WEAT)."""
        from pellucid.word_vectors.bias import weat

        return weat(self, x, y, a, b, permutations=permutations, seed=seed, skip_unknown=skip_unknown)

    def ripa(self, words: Sequence[str], pairs: Sequence[tuple[str, str]]) -> RipaScores:
        """Score words along the relation that the pairs have in common (RIPA)."""
        from pellucid.word_vectors.bias import ripa

        return ripa(self, words, pairs)

    def align(self, other: WordVectors, *, anchors: Sequence[str] | None = None, peers: int = 1000) -> Drift:
        """Turn these vectors into the space of `other` and measure how far each shared word has moved."""
        from pellucid.word_vectors.drift import align

        return align(self, other, anchors=anchors, peers=peers)

    def look(self, words: str | Sequence[str]) -> WordLook:
        """Look at the numbers of some words, a text taken apart at its spaces or a list: see `inspection.WordLook`."""
        from pellucid.inspection import look_at_word_vectors

        return look_at_word_vectors(self, words)

    def __getattr__(self, name: str) -> NoReturn:
        """Say what a method of gensim's KeyedVectors is called here."""
        here = _METHODS_ELSEWHERE.get(name)
        hint = f"; it is {here} here" if here else ""
        raise AttributeError(f"WordVectors has no {name}{hint}", name=name, obj=self)

    @classmethod
    def train(
        cls,
        text: TextSource | None = None,
        *,
        threads: int | None = None,
        start: WordVectors | str | Path | None = None,
        on_step: Callable[[VectorsStep], None] | None = None,
        **settings: Any,
    ) -> WordVectors:
        """Learn vectors from a text; of the same text and settings come the same vectors, to the bit.

        The text's words lie as numbers, 4 bytes each, in the system's folder for temporary files meanwhile (`TMPDIR`).

        Args:
            text: a file with a sentence a line, several files as a list of `Path`, or sentences that are lists of
                words, also from a generator: it is read once.
            threads: how many threads work, all cores unless given; the vectors do not depend on it.
            start: vectors to go on with, or where they are; their words keep their rows, new ones come behind them.
            on_step: called with a record about twice a second: progress, loss, words a second.
            settings: as `dim=100, model="skip-gram", window=5, negative=5, sample=1e-3, min_count=5, epochs=5, seed=1,
                fast=False`; all of them are in `pellucid.word_vectors.config.VectorsConfig`.

        Raises:
            UserError: for a setting that there is not, or a text that there is nothing to learn from.
        """
        from pellucid.word_vectors.train_vectors import train_vectors

        if text is None:
            raise UserError(
                "there is no text to train on",
                hint='It is the first argument, a file or sentences: WordVectors.train("corpus.txt", …).',
            )
        return train_vectors(text, threads=threads, start=start, on_step=on_step, **settings)

    @staticmethod
    def stability(
        text: TextSource,
        words: Sequence[str] = (),
        *,
        runs: int = 25,
        n: int = 10,
        measures: Mapping[str, Callable[[WordVectors], float]] | None = None,
        **settings: Any,
    ) -> Stability:
        """Train on many resamples of the text's documents, and say how far neighbours and scores can be trusted.

        Args:
            text: as for `train`.
            words: whose neighbours are asked for.
            runs: how many trainings.
            n: how many neighbours.
            measures: scores of interest, each a function of vectors; every one gets its interval.
            settings: as for `train`, and `documents`, `confidence`, `threads`, `on_run`: see `stability.stability`.

        Raises:
            UserError: for a word that is not in the vocabulary, fewer than 2 runs or documents, or as `train`.
        """
        from pellucid.word_vectors.stability import stability

        return stability(text, words, runs=runs, n=n, measures=measures, **settings)

    def neighbours(
        self, word: str, corpus: TextSource, n: int = 10, *, examples: int = 3, **reading: Any
    ) -> list[NeighbourInText]:
        """Return a word's neighbours, each with places of the text where it stands, best those shared with the word.

        Args:
            corpus: the files that the vectors were trained on, or others.
            examples: how many places each gets, at most.
            reading: `tokenizer` and `lowercase`; as in the training unless given.
        """
        from pellucid.word_vectors.concordance import find_neighbours_in_text

        return find_neighbours_in_text(self, word, corpus, n, examples=examples, **reading)

    @classmethod
    def load(
        cls,
        path: str | Path,
        format: Format | None = None,
        *,
        strict: bool = False,
        unescape: bool = False,
        float16: bool | None = None,
    ) -> WordVectors:
        r"""Read vectors from a file or a folder; what was odd about it is in `report`, and is warned of.

        Args:
            path: a folder that `save` wrote, or a file of word2vec (text or binary), GloVe or fastText (`.vec`), also
                as `.gz`, `.xz` or `.zst`.
            format: native, word2vec-text, word2vec-binary, glove or fasttext; told from the content unless given.
            strict: make whatever is odd an error with its line or byte.
            unescape: read `\s`, `\n`, … in words as `save(…, escape=True)` has written them.
            float16: whether the numbers of a binary file have two bytes; told from the content unless given.

        Raises:
            UserError: if the file is missing, is of another kind, or does not tell clearly what it is.
        """
        from pellucid.word_vectors.files import read_vectors

        vectors = read_vectors(path, format, strict=strict, unescape=unescape, float16=float16)
        for problem in vectors.report.problems if vectors.report else ():
            warnings.warn(f"{problem.message} ({problem.place})", VectorFileWarning, stacklevel=2)
        return vectors

    def save(
        self,
        path: str | Path,
        format: Format | None = None,
        *,
        float16: bool = False,
        escape: bool = False,
    ) -> None:
        r"""Write the vectors, whole or not at all.

        Args:
            path: a folder for the native form, which holds any word, output vectors, counts and metadata; a file for
                the others, which hold words and input vectors only, packed if its name ends in `.gz`, `.xz` or `.zst`.
            format: native, word2vec-text, word2vec-binary, glove or fasttext; by the name's ending unless given:
                `.txt` is word2vec-text, `.bin` word2vec-binary, `.vec` fasttext, anything else native.
            float16: write two bytes a number (word2vec-binary only; not for gensim).
            escape: write spaces, line feeds and the like in words as `\s`, `\n`, …; without it, such words are refused
                by all forms but the native one.

        Raises:
            UserError: if the form cannot hold a word, something else stands in the way, or the disk refuses.
        """
        from pellucid.word_vectors.files import write_vectors

        write_vectors(self, path, format, float16=float16, escape=escape)

    @cached_property
    def search_index(self) -> SearchIndex:
        """The input vectors, measured once for all searches.

        Raises:
            UserError: if a number is not finite.
        """
        measured = build_index(self.input_vectors)
        if len(measured.infinite):
            row = int(measured.infinite[0])
            raise UserError(
                f"the vector of {self.words[row]!r} (row {row}) holds a number that is not finite",
                hint=f"{len(measured.infinite):,} of {len(self):,} do; leave these words out, or train again.",
            )
        return measured

    def unit_vector(self, query: Query) -> Floats:
        """Return where a query points, float64 [d] of length 1.

        Raises:
            UserError: if it points nowhere: zeros, or words that cancel out.
        """
        if isinstance(query, str):
            return _unit(self[query], f"the vector of {query!r} is all zeros")
        if _is_words(query):
            words: Sequence[str] = query  # type: ignore[assignment]
            total = sum(map(self.unit_vector, words))
            return _unit(total, f"the vectors of {', '.join(words)} cancel out", ROUNDING)
        try:
            vector = numpy.asarray(query, numpy.float64)
        except (ValueError, TypeError):
            vector = numpy.empty(0)
        if vector.shape != (self.dim,):
            raise UserError(
                f"expected a word, a list of words or a vector of {self.dim} numbers, got {_shown(query)}",
                hint="Ask for many at once with similar_batch.",
            )
        if not numpy.isfinite(vector).all():
            raise UserError("the vector asked about holds a number that is not finite")
        return _unit(vector, "the vector asked about is all zeros")

    def most_frequent(self, restrict: int | None) -> tuple[int | None, NDArray[numpy.bool_] | None]:
        """Return how many first rows, and which of them, are the `restrict` most frequent words."""
        if restrict is None or restrict >= len(self):
            return None, None
        if restrict < 1:
            raise UserError(f"expected to search at least one word, got restrict = {restrict}")
        if self.counts is None or not (numpy.diff(self.counts) > 0).any():
            return restrict, None
        allowed = numpy.zeros(len(self), numpy.bool_)
        allowed[numpy.argsort(-self.counts, kind="stable")[:restrict]] = True
        return None, allowed

    def cosines(self, words: Sequence[str], direction: Floats) -> Floats:
        """Return the cosine of each word with a direction of length 1, float64 [words]."""
        words = [words] if isinstance(words, str) else words
        rows = self.rows(words)
        for word, row in zip(words, rows, strict=True):
            if self.search_index.zero[row]:
                raise _nowhere(f"the vector of {word!r} is all zeros")
        cosines: Floats = exact_cosines(self.input_vectors[rows], direction[None])[0]
        return cosines

    def _rows_of_query(self, query: Query) -> list[int]:
        if isinstance(query, str):
            return self.rows([query])
        return self.rows(query) if _is_words(query) else []  # type: ignore[arg-type]

    def _unknown(self, words: list[Any]) -> UnknownWordError:
        names = list(dict.fromkeys(map(repr, words)))
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")
        near = {word: suggest_spellings(self.vocabulary, word) for word in words[:3] if isinstance(word, str)}
        hints = [f"spelt most like {word!r}: {', '.join(map(repr, found))}" for word, found in near.items() if found]
        return UnknownWordError(
            f"{shown} {'is' if len(names) == 1 else 'are'} not among the {len(self):,} words",
            hint="; ".join(hints) or "Words are compared letter by letter, capitals too; rare ones are often left out.",
        )


def _unit(vector: ArrayLike, why: str, least: float = 0.0) -> Floats:
    """Return `vector` at length 1, or say that it points nowhere, and why; so is what is no larger than `least`."""
    wide = numpy.asarray(vector, numpy.float64)
    largest = float(numpy.abs(wide).max(initial=0))
    if not largest > least:
        raise _nowhere(why)
    wide = wide / largest  # of tiny numbers the squares would vanish, of huge ones they would overflow
    unit: Floats = wide / float(numpy.sqrt((wide * wide).sum()))
    return unit


def _is_words(query: Any) -> bool:
    return isinstance(query, Sequence) and len(query) > 0 and all(isinstance(word, str) for word in query)


def _shown(query: Any) -> str:
    shape = getattr(query, "shape", None)
    return f"an array of shape {shape}" if shape is not None else repr(query)[:60]


def _nowhere(why: str) -> UserError:
    return UserError(f"{why}: it points nowhere and has no cosine", hint="Ask about other words.")


def _matrix(given: ArrayLike, vocab_size: int, name: str) -> NDArray[numpy.float32]:
    array = numpy.asarray(given)
    if array.ndim != 2 or len(array) != vocab_size or array.shape[1] < 1 or array.dtype.kind not in "fiu":
        raise UserError(
            f"expected {vocab_size:,} rows of numbers as {name}, got {array.dtype} of shape {array.shape}",
            hint="Give one row for each word, all of the same length.",
        )
    return _read_only(numpy.ascontiguousarray(array, numpy.float32))


def _counts(given: ArrayLike, vocab_size: int) -> NDArray[numpy.int64]:
    counts = numpy.asarray(given)
    if counts.shape != (vocab_size,) or counts.dtype.kind not in "iu":
        raise UserError(f"expected a whole number for each word as its count, got {counts.dtype} of {counts.shape}")
    return _read_only(counts.astype(numpy.int64, copy=False))


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view

"""Word vectors as a user holds them: load, train, query, analyse, save.

Each method of `WordVectors` calls one function of `pellucid.word_vectors` or `pellucid.inspection`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pellucid.errors import UserError
from pellucid.word_vectors.analogies import Method, rank_by_agreement, solve_analogies
from pellucid.word_vectors.axes import SemanticAxis, build_axis
from pellucid.word_vectors.bias import RipaScores, WeatResult, ripa, weat
from pellucid.word_vectors.drift import Drift, measure_drift
from pellucid.word_vectors.keyed_vectors import KeyedVectors
from pellucid.word_vectors.neighbours import Neighbour

if TYPE_CHECKING:
    from pellucid.inspection import WordLook
    from pellucid.word_vectors.concordance import NeighbourInText
    from pellucid.word_vectors.encoded_text import TextSource
    from pellucid.word_vectors.files import Format
    from pellucid.word_vectors.stability import Stability
    from pellucid.word_vectors.training import VectorsStep

__all__ = ["VectorFileWarning", "WordVectors"]


class VectorFileWarning(UserWarning):
    """A problem in a file of word vectors; `vectors.report` lists all of them."""


class WordVectors(KeyedVectors):
    """A vector for each word of a vocabulary: `KeyedVectors` with loading, saving, training and analysis.

        vectors = WordVectors.train("corpus.txt", dim=100)
        vectors.similar("king")
        vectors.save("vectors")

    Data and search (`vectors["king"]`, `similarity`, `similar`, `input_vectors`, …) are those of `KeyedVectors`.
    """

    @classmethod
    def of(cls, vectors: KeyedVectors) -> WordVectors:
        """Wrap vectors that a function of `pellucid.word_vectors` has made, without copying them."""
        return cls(*(getattr(vectors, field.name) for field in fields(KeyedVectors)))

    @classmethod
    def train(
        cls,
        text: TextSource | None = None,
        *,
        threads: int | None = None,
        start: KeyedVectors | str | Path | None = None,
        on_step: Callable[[VectorsStep], None] | None = None,
        **settings: Any,
    ) -> WordVectors:
        """Train vectors on a text; the same text and settings give bit-identical vectors.

        Meanwhile the encoded text lies in the system's temporary folder (`TMPDIR`), 4 bytes per word.

        Args:
            text: a file with one sentence per line, several files as a list of `Path`, or an iterable of sentences,
                each a list of words; a generator is read once.
            threads: number of threads, all cores by default; the vectors do not depend on it.
            start: vectors, or their path, to continue training from; their words keep their rows, new words follow.
            on_step: called about twice a second with a record of progress, loss and speed.
            settings: fields of `VectorsConfig`, such as `dim=100, model="skip-gram", window=5, negative=5, sample=1e-3,
                min_count=5, epochs=5, seed=1, fast=False`.

        Raises:
            UserError: for an unknown setting, or a text with nothing to learn from.
        """
        from pellucid.word_vectors.train_vectors import train_vectors

        if text is None:
            raise UserError(
                "no text to train on",
                where="WordVectors.train",
                hint='Pass a file or sentences as the first argument: WordVectors.train("corpus.txt", …).',
            )
        return cls.of(train_vectors(text, threads=threads, start=start, on_step=on_step, **settings))

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
        r"""Read vectors from a file or a folder; problems are listed in `report` and issued as warnings.

        Args:
            path: a folder written by `save`, or a word2vec (text or binary), GloVe or fastText (`.vec`) file,
                optionally compressed as `.gz`, `.xz` or `.zst`.
            format: native, word2vec-text, word2vec-binary, glove or fasttext; detected from the content by default.
            strict: raise an error with line or byte for any problem.
            unescape: decode `\s`, `\n`, … in words as written by `save(…, escape=True)`.
            float16: whether the numbers of a binary file are float16; detected from the content by default.

        Raises:
            UserError: if the file is missing, is not a file of word vectors, or is ambiguous.
        """
        from pellucid.word_vectors.files import read_vectors

        vectors = cls.of(read_vectors(path, format, strict=strict, unescape=unescape, float16=float16))
        for problem in vectors.report.problems if vectors.report else ():
            warnings.warn(f"{problem.message} ({problem.where})", VectorFileWarning, stacklevel=2)
        return vectors

    def save(
        self, path: str | Path, format: Format | None = None, *, float16: bool = False, escape: bool = False
    ) -> None:
        r"""Write the vectors atomically.

        Args:
            path: a folder for the native format, which holds any word, output vectors, counts and metadata; a file for
                the other formats, which hold words and input vectors only, compressed if its name ends in `.gz`, `.xz`
                or `.zst`.
            format: native, word2vec-text, word2vec-binary, glove or fasttext; by default from the name: `.txt` is
                word2vec-text, `.bin` word2vec-binary, `.vec` fasttext, anything else native.
            float16: write float16 (word2vec-binary only; gensim cannot read it).
            escape: write spaces, line feeds and the like in words as `\s`, `\n`, …; otherwise all formats but the
                native one reject such words.

        Raises:
            UserError: if the format cannot hold a word, the path is taken by something else, or writing fails.
        """
        from pellucid.word_vectors.files import write_vectors

        write_vectors(self, path, format, float16=float16, escape=escape)

    def analogy(
        self,
        a: str,
        b: str,
        c: str,
        n: int = 10,
        *,
        method: Method = "3CosAdd",
        exclude_query: bool = True,
        restrict: int | None = None,
    ) -> list[Neighbour]:
        """Find the `n` best words for "a is to b as c is to …": `analogy("man", "king", "woman")`.

        Args:
            method: the scoring formula, see `pellucid.word_vectors.analogies`.
            exclude_query: leave a, b and c out of the answer, as is usual; otherwise one of them often wins.
            restrict: search only this many of the most frequent words.
        """
        return solve_analogies(self, [(a, b, c)], n, method=method, exclude_query=exclude_query, restrict=restrict)[0]

    def odd_one_out(self, words: Sequence[str]) -> str:
        """Find the word with the lowest cosine to the mean of all."""
        return rank_by_agreement(self, words)[-1].word

    def axis(self, left_words: Sequence[str], right_words: Sequence[str]) -> SemanticAxis:
        """Build the axis from the left words to the right ones, on which every word has a position."""
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
        """Test whether the words x are closer to a than to b, compared with the words y (WEAT)."""
        return weat(self, x, y, a, b, permutations=permutations, seed=seed, skip_unknown=skip_unknown)

    def ripa(self, words: Sequence[str], pairs: Sequence[tuple[str, str]]) -> RipaScores:
        """Score words along the relation that the pairs have in common (RIPA)."""
        return ripa(self, words, pairs)

    def drift(self, other: KeyedVectors, *, anchors: Sequence[str] | None = None, peers: int = 1000) -> Drift:
        """Rotate these vectors into the space of `other` and measure how far each shared word has moved."""
        return measure_drift(self, other, anchors=anchors, peers=peers)

    def neighbours(
        self, word: str, corpus: TextSource, n: int = 10, *, examples: int = 3, **reading: Any
    ) -> list[NeighbourInText]:
        """Find a word's neighbours with sentences that contain them, first those that also contain the word.

        Args:
            corpus: the files that the vectors were trained on, or others.
            examples: maximum number of sentences per neighbour.
            reading: `tokenizer` and `lowercase`; those of the training by default.
        """
        from pellucid.word_vectors.concordance import find_neighbours_in_text

        return find_neighbours_in_text(self, word, corpus, n, examples=examples, **reading)

    @staticmethod
    def stability(
        text: TextSource,
        words: Sequence[str] = (),
        *,
        runs: int = 25,
        n: int = 10,
        measures: Mapping[str, Callable[[KeyedVectors], float]] | None = None,
        **settings: Any,
    ) -> Stability:
        """Train on bootstrap samples of the documents and give intervals for neighbours and scores.

        Args:
            runs: number of training runs.
            settings: as in `train`, and `documents`, `confidence`, `threads`, `on_run`; these and the other arguments
                are those of `pellucid.word_vectors.measure_stability`.
        """
        from pellucid.word_vectors.stability import measure_stability

        return measure_stability(text, words, runs=runs, n=n, measures=measures, **settings)

    def look(self, words: str | Sequence[str]) -> WordLook:
        """Look at the numbers of some words, given as a text split at spaces or as a list."""
        from pellucid.inspection import look_at_word_vectors

        return look_at_word_vectors(self, words)

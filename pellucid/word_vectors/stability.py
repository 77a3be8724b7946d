"""How far neighbours and scores can be trusted: the training repeated on resamples of the text's documents.

A word's neighbours depend on the documents that happen to be in a corpus. Draw as many documents as there are, with
replacement, train, and do so 25 times or more: what changes from run to run is what the corpus does not tell.

Source:
    Antoniak & Mimno 2018 (Evaluating the Stability of Embedding-based Word Similarities): the BOOTSTRAP setting.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy
from numpy.typing import NDArray

from pellucid.corpus.text_files import read_lines
from pellucid.errors import UserError
from pellucid.randomness import derive_seed, generator
from pellucid.storage.id_store import IdStoreWriter
from pellucid.word_vectors.config import VectorsConfig, vectors_config
from pellucid.word_vectors.encoded_text import EncodedText, TextSource, source_files
from pellucid.word_vectors.train_vectors import encode_for_training
from pellucid.word_vectors.training import VectorsTraining
from pellucid.word_vectors.vectors import WordVectors

__all__ = ["BootstrapInterval", "Documents", "Stability", "StableNeighbour", "stability"]

Documents = Literal["auto", "files", "blocks", "lines"]
"""What a document is: a file, what stands between blank lines, or a line; auto takes the first that gives 20."""

_FEW = 20
_DOCUMENTS_AT_ONCE = 10_000
Measure = Callable[[WordVectors], float]


class BootstrapInterval(NamedTuple):
    """A score over the runs: its mean, and the bounds between which the middle share of the runs lies."""

    mean: float
    low: float
    high: float


class StableNeighbour(NamedTuple):
    """A word that was near in some run.

    Attributes:
        cosine: over all runs.
        among: share of the runs in which it was among the `n` nearest.
        rank: over all runs, 1 being the nearest.
    """

    word: str
    cosine: BootstrapInterval
    among: float
    rank: BootstrapInterval


@dataclass(frozen=True)
class Stability:
    """What the runs came to.

    Attributes:
        neighbours: of each word asked about, highest mean cosine first.
        measures: of each score asked about.
        runs: how many trainings there were.
        documents: how many documents were resampled.
        document: what a document is: files, blocks or lines.
        confidence: the share of the runs that lies between the bounds.
    """

    neighbours: Mapping[str, tuple[StableNeighbour, ...]]
    measures: Mapping[str, BootstrapInterval]
    runs: int
    documents: int
    document: str
    confidence: float

    def as_dict(self) -> dict[str, Any]:
        """Return it for `--json`."""
        return {
            "runs": self.runs,
            "documents": self.documents,
            "document": self.document,
            "confidence": self.confidence,
            "neighbours": {
                word: [{**one._asdict(), "cosine": one.cosine._asdict(), "rank": one.rank._asdict()} for one in found]
                for word, found in self.neighbours.items()
            },
            "measures": {name: interval._asdict() for name, interval in self.measures.items()},
        }


def stability(
    text: TextSource,
    words: Sequence[str] = (),
    *,
    runs: int = 25,
    n: int = 10,
    measures: Mapping[str, Measure] | None = None,
    documents: Documents = "auto",
    confidence: float = 0.95,
    threads: int | None = None,
    on_run: Callable[[int], object] | None = None,
    **settings: Any,
) -> Stability:
    """Train `runs` times on documents drawn with replacement; return intervals for neighbours and scores.

    All runs share the vocabulary of the whole text, and the same settings make the same result. Words and scores are
    looked at in each run, so that no more than one run's vectors are in memory.

    Args:
        text: as for `WordVectors.train`.
        words: whose neighbours are asked for.
        n: how many neighbours.
        measures: scores of interest, each a function of vectors, as `lambda v: v.similarity("king", "queen")`; called
            once more at first, on untrained vectors, so that a word that is not there is told before the trainings.
        documents: what a document is; for sentences that are lists, a sentence is one.
        confidence: share of the runs that the bounds enclose.
        on_run: called after each run, with its number from 1; if it returns True, from the second run on, no more
            runs follow, and the result is that of those so far.
        settings: fields of `VectorsConfig`.

    Raises:
        UserError: for a word that is not in the vocabulary, fewer than 2 runs or documents, or as `WordVectors.train`.
    """
    if runs < 2:
        raise UserError(f"expected 2 runs or more, got {runs}", hint="25 give an interval that is worth its name.")
    if not 0 < confidence < 1:
        raise UserError(f"expected a confidence between 0 and 1, got {confidence}", hint="0.95 is the custom.")
    if n < 1:
        raise UserError(f"expected a number of neighbours from 1 on, got {n}")
    words = [words] if isinstance(words, str) else list(words)
    if not words and not measures:
        raise UserError("nothing is asked about", hint="Give words whose neighbours matter, or measures.")
    config, asked = vectors_config(settings), dict(measures or {})
    cosines: dict[str, list[NDArray[numpy.float64]]] = {word: [] for word in words}
    scores: dict[str, list[float]] = {name: [] for name in asked}
    with tempfile.TemporaryDirectory(prefix="pellucid-") as folder:
        encoded = encode_for_training(text, config, Path(folder))
        _known(words, encoded)
        kind, ends = document_ends(text, len(encoded.ids), documents)
        if len(ends) < 2:
            raise UserError(
                f"resampling needs documents, and by {kind} the text has one",
                hint="Say what a document is, `--documents lines`, or give several files.",
            )
        if asked:
            untrained = VectorsTraining(encoded, config, threads=threads).vectors()
            for measure in asked.values():
                measure(untrained)
        done = 0
        for run in range(runs):
            vectors = _trained_on_resample(encoded, ends, config, Path(folder), run, threads)
            done += 1
            for word in words:
                cosines[word].append(_all_cosines(vectors, word))
            for name, measure in asked.items():
                scores[name].append(float(measure(vectors)))
            if on_run is not None and on_run(done) is True and done >= 2:
                break
    return Stability(
        neighbours={
            word: _stable_neighbours(encoded.words, numpy.stack(found), n, confidence)
            for word, found in cosines.items()
        },
        measures={name: _interval(numpy.array(values), confidence) for name, values in scores.items()},
        runs=done,
        documents=len(ends),
        document=kind,
        confidence=confidence,
    )


def document_ends(text: TextSource, sentences: int, documents: Documents = "auto") -> tuple[str, NDArray[numpy.int64]]:
    """Return what a document is, and the sentence (exclusive) where each ends."""
    files = source_files(text)
    if files is None or documents == "lines":
        return "lines", numpy.arange(1, sentences + 1)
    by_file, by_block, line = [], [], 0
    for file in files:
        blank = True
        for _, content in read_lines(file):
            if not content.strip():
                if not blank:
                    by_block.append(line)
                blank = True
            else:
                blank = False
            line += 1
        by_file.append(line)
        if not by_block or by_block[-1] != line:
            by_block.append(line)
    for kind, ends in (("files", by_file), ("blocks", by_block)):
        if documents == kind or (documents == "auto" and len(ends) >= _FEW):
            return kind, numpy.array(ends, numpy.int64)
    return "lines", numpy.arange(1, sentences + 1)


def _known(words: Sequence[str], text: EncodedText) -> None:
    unknown = sorted(set(words) - set(text.words))
    if unknown:
        raise UserError(
            f"{', '.join(map(repr, unknown[:5]))} {'is' if len(unknown) == 1 else 'are'} not among the "
            f"{len(text.words):,} words",
            hint="Words are compared letter by letter, capitals too; rare ones are left out by min_count. Chinese "
            "needs a tokenizer: rjieba, or characters.",
        )


def _trained_on_resample(
    text: EncodedText, ends: NDArray[numpy.int64], config: VectorsConfig, folder: Path, run: int, threads: int | None
) -> WordVectors:
    drawn = numpy.sort(generator(config.seed, "resample", run).integers(0, len(ends), len(ends)))
    counts = numpy.zeros(len(text.words), numpy.int64)
    with IdStoreWriter(folder / "resample") as writer:
        for ids, lengths in _documents(text, ends, drawn):
            counts += numpy.bincount(ids, minlength=len(counts))
            writer.extend(ids, lengths)
        store = writer.close()
    again = EncodedText(text.words, counts, store, int(counts.sum()), text.distinct)
    seeded = config.model_copy(update={"seed": derive_seed(config.seed, "run", run)})
    training = VectorsTraining(again, seeded, threads=threads)
    for _ in training:
        pass
    store.remove()
    return training.vectors()


def _documents(
    text: EncodedText, ends: NDArray[numpy.int64], drawn: NDArray[numpy.int64]
) -> Iterator[tuple[NDArray[numpy.int32], NDArray[numpy.int64]]]:
    """Yield the drawn documents' ids and lengths of sentences, many together."""
    firsts = numpy.concatenate([[0], ends[:-1]])
    word_ends = numpy.concatenate([[0], text.ids.ends])
    for start in range(0, len(drawn), _DOCUMENTS_AT_ONCE):
        chosen = drawn[start : start + _DOCUMENTS_AT_ONCE]
        sentences = _ranges(firsts[chosen], ends[chosen])
        yield text.ids.ids[_ranges(word_ends[sentences], word_ends[sentences + 1])], text.ids.lengths[sentences]


def _ranges(begins: NDArray[numpy.int64], ends: NDArray[numpy.int64]) -> NDArray[numpy.int64]:
    """Return begin, begin + 1, … up to end (exclusive) of each range, one after another."""
    lengths = ends - begins
    before = numpy.cumsum(lengths) - lengths
    return numpy.repeat(begins - before, lengths) + numpy.arange(int(lengths.sum()))


def _all_cosines(vectors: WordVectors, word: str) -> NDArray[numpy.float64]:
    """Return a word's cosine with every word, −2 for itself and for words without a direction."""
    rows = vectors.input_vectors.astype(numpy.float64)
    lengths = numpy.sqrt((rows * rows).sum(axis=1))
    row = vectors.row(word)
    with numpy.errstate(invalid="ignore", divide="ignore"):
        cosines = rows @ rows[row] / (lengths * lengths[row])
    cosines[~numpy.isfinite(cosines)] = -2
    cosines[row] = -2
    found: NDArray[numpy.float64] = cosines
    return found


def _stable_neighbours(
    words: Sequence[str], cosines: NDArray[numpy.float64], n: int, confidence: float
) -> tuple[StableNeighbour, ...]:
    """Return the `n` words of highest mean cosine over the runs [runs words]."""
    ranks = numpy.empty(cosines.shape, numpy.int64)
    for run, order in enumerate(numpy.argsort(-cosines, axis=1, kind="stable")):
        ranks[run, order] = numpy.arange(1, len(order) + 1)
    best = numpy.argsort(-cosines.mean(axis=0), kind="stable")[: min(n, len(words) - 1)]
    return tuple(
        StableNeighbour(
            words[row],
            _interval(cosines[:, row], confidence),
            float((ranks[:, row] <= n).mean()),
            _interval(ranks[:, row].astype(numpy.float64), confidence),
        )
        for row in best.tolist()
    )


def _interval(values: NDArray[numpy.float64], confidence: float) -> BootstrapInterval:
    low, high = numpy.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return BootstrapInterval(float(values.mean()), float(low), float(high))

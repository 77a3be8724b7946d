"""Stability of neighbours and scores: training repeated on bootstrap samples of the text's documents.

A word's neighbours depend on the documents that happen to be in a corpus. Sample as many documents as there are, with
replacement, train, and repeat 25 times or more: what changes from run to run is not supported by the corpus.

Source:
    Antoniak & Mimno 2018 (Evaluating the Stability of Embedding-based Word Similarities): the BOOTSTRAP setting.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
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
from pellucid.word_vectors.keyed_vectors import KeyedVectors
from pellucid.word_vectors.train_vectors import encode_for_training
from pellucid.word_vectors.training import VectorsTraining

__all__ = ["BootstrapInterval", "DocumentUnit", "Stability", "StableNeighbour", "measure_stability"]

DocumentUnit = Literal["auto", "files", "blocks", "lines"]
"""What a document is: a file, a block between blank lines, or a line; auto takes the first unit with at least 20."""

_MIN_DOCUMENTS = 20
_BATCH = 10_000  # documents
Measure = Callable[[KeyedVectors], float]


class BootstrapInterval(NamedTuple):
    """A score over the runs: its mean, and the percentile bounds of the middle share of the runs."""

    mean: float
    low: float
    high: float


class StableNeighbour(NamedTuple):
    """A neighbour with its stability over the runs.

    Attributes:
        cosine: over all runs.
        share: share of the runs in which it was among the `n` nearest.
        rank: over all runs; 1 is the nearest.
    """

    word: str
    cosine: BootstrapInterval
    share: float
    rank: BootstrapInterval


@dataclass(frozen=True)
class Stability:
    """The result of a bootstrap over documents.

    Attributes:
        neighbours: for each word of interest, highest mean cosine first.
        measures: for each score of interest.
        unit: what a document is: files, blocks or lines.
        confidence: share of the runs between the bounds.
    """

    neighbours: Mapping[str, tuple[StableNeighbour, ...]]
    measures: Mapping[str, BootstrapInterval]
    runs: int
    documents: int
    unit: str
    confidence: float

    def as_dict(self) -> dict[str, Any]:
        """Convert to JSON types."""
        return {
            "runs": self.runs,
            "documents": self.documents,
            "unit": self.unit,
            "confidence": self.confidence,
            "neighbours": {
                word: [{**one._asdict(), "cosine": one.cosine._asdict(), "rank": one.rank._asdict()} for one in found]
                for word, found in self.neighbours.items()
            },
            "measures": {name: interval._asdict() for name, interval in self.measures.items()},
        }


def measure_stability(
    text: TextSource,
    words: Sequence[str] = (),
    *,
    runs: int = 25,
    n: int = 10,
    measures: Mapping[str, Measure] | None = None,
    documents: DocumentUnit = "auto",
    confidence: float = 0.95,
    threads: int | None = None,
    on_run: Callable[[int], object] | None = None,
    **settings: Any,
) -> Stability:
    """Train `runs` times on documents sampled with replacement and compute intervals for neighbours and scores.

    All runs share the vocabulary of the whole text, and the same settings give the same result. Only one run's vectors
    are in memory at a time.

    Args:
        text: as for `train_vectors`.
        words: words whose neighbours are of interest.
        n: number of neighbours.
        measures: scores of interest, each a function of vectors such as `lambda v: v.similarity("king", "queen")`;
            first called on untrained vectors, so that an unknown word is reported before the runs.
        documents: what a document is; if the text is passed as sentences, each sentence is one.
        confidence: share of the runs between the bounds.
        on_run: called after each run with its number, from 1; returning True, from the second run on, stops with the
            result so far.
        settings: fields of `VectorsConfig`.

    Raises:
        UserError: for an unknown word, fewer than 2 runs or documents, or as `train_vectors`.
    """
    if runs < 2:
        raise UserError(
            f"expected at least 2 runs, got {runs}",
            where="runs",
            hint="Pass a number from 2 on; 25 give a usable interval.",
        )
    if not 0 < confidence < 1:
        raise UserError(
            f"expected a confidence between 0 and 1, got {confidence}",
            where="confidence",
            hint="Pass a number such as 0.95.",
        )
    if n < 1:
        raise UserError(f"expected at least one neighbour, got n = {n}", where="n", hint="Pass a positive number.")
    words = [words] if isinstance(words, str) else list(words)
    if not words and not measures:
        raise UserError(
            "no words and no measures of interest", where="words, measures", hint="Pass words, measures, or both."
        )
    config, measures = vectors_config(settings), dict(measures or {})
    cosines: dict[str, list[NDArray[numpy.float64]]] = {word: [] for word in words}
    scores: dict[str, list[float]] = {name: [] for name in measures}
    with tempfile.TemporaryDirectory(prefix="pellucid-") as folder:
        encoded = encode_for_training(text, config, Path(folder))
        _check_known(words, encoded)
        unit, ends = document_ends(text, len(encoded.ids), documents)
        if len(ends) < 2:
            raise UserError(
                f"the text has a single document (counting {unit}): there is nothing to resample",
                where="documents",
                hint="Choose another unit (`--documents lines`), or pass several files.",
            )
        if measures:
            untrained = VectorsTraining(encoded, config, threads=threads).vectors()
            for measure in measures.values():
                measure(untrained)
        for done in range(1, runs + 1):
            vectors = _trained_on_resample(encoded, ends, config, Path(folder), done - 1, threads)
            for word in words:
                cosines[word].append(_all_cosines(vectors, word))
            for name, measure in measures.items():
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
        unit=unit,
        confidence=confidence,
    )


def document_ends(
    text: TextSource, sentences: int, documents: DocumentUnit = "auto"
) -> tuple[str, NDArray[numpy.int64]]:
    """Find the sentence (exclusive) where each document ends, and what a document is."""
    files = source_files(text)
    if files is None or documents == "lines":
        return "lines", numpy.arange(1, sentences + 1)
    by_file, by_block, line = [], [], 0
    for file in files:
        blank = [not content.strip() for _, content in read_lines(file)]
        by_block += [line + i + 1 for i, (before, here) in enumerate(pairwise(blank)) if here and not before]
        line += len(blank)
        by_file.append(line)
        if not by_block or by_block[-1] != line:
            by_block.append(line)
    for unit, ends in (("files", by_file), ("blocks", by_block)):
        if documents == unit or (documents == "auto" and len(ends) >= _MIN_DOCUMENTS):
            return unit, numpy.array(ends, numpy.int64)
    return "lines", numpy.arange(1, sentences + 1)


def _check_known(words: Sequence[str], text: EncodedText) -> None:
    unknown = sorted(set(words) - set(text.words))
    if unknown:
        raise UserError(
            f"{', '.join(map(repr, unknown[:5]))} {'is' if len(unknown) == 1 else 'are'} not among the "
            f"{len(text.words):,} words",
            where="words",
            hint="Lookup is case-sensitive, and min_count drops rare words. Chinese needs a tokenizer: rjieba or "
            "characters.",
        )


def _trained_on_resample(
    text: EncodedText, ends: NDArray[numpy.int64], config: VectorsConfig, folder: Path, run: int, threads: int | None
) -> KeyedVectors:
    drawn = numpy.sort(generator(config.seed, "resample", run).integers(0, len(ends), len(ends)))
    counts = numpy.zeros(len(text.words), numpy.int64)
    with IdStoreWriter(folder / "resample") as writer:
        for ids, lengths in _documents(text, ends, drawn):
            counts += numpy.bincount(ids, minlength=len(counts))
            writer.extend(ids, lengths)
        store = writer.close()
    resampled = EncodedText(text.words, counts, store, int(counts.sum()), text.distinct)
    seeded = config.model_copy(update={"seed": derive_seed(config.seed, "run", run)})
    training = VectorsTraining(resampled, seeded, threads=threads)
    for _ in training:
        pass
    store.remove()
    return training.vectors()


def _documents(
    text: EncodedText, ends: NDArray[numpy.int64], drawn: NDArray[numpy.int64]
) -> Iterator[tuple[NDArray[numpy.int32], NDArray[numpy.int64]]]:
    """Yield the sampled documents' ids and sentence lengths, in batches."""
    firsts = numpy.concatenate([[0], ends[:-1]])
    word_ends = numpy.concatenate([[0], text.ids.ends])
    for start in range(0, len(drawn), _BATCH):
        chosen = drawn[start : start + _BATCH]
        sentences = _ranges(firsts[chosen], ends[chosen])
        yield text.ids.ids[_ranges(word_ends[sentences], word_ends[sentences + 1])], text.ids.lengths[sentences]


def _ranges(begins: NDArray[numpy.int64], ends: NDArray[numpy.int64]) -> NDArray[numpy.int64]:
    """Concatenate the ranges begin, begin + 1, …, end − 1."""
    lengths = ends - begins
    before = numpy.cumsum(lengths) - lengths
    return numpy.repeat(begins - before, lengths) + numpy.arange(int(lengths.sum()))


def _all_cosines(vectors: KeyedVectors, word: str) -> NDArray[numpy.float64]:
    """Compute a word's cosine with every word; −2 for itself and for zero vectors."""
    rows = vectors.input_vectors.astype(numpy.float64)
    norms = numpy.sqrt((rows * rows).sum(axis=1))
    row = vectors.row(word)
    with numpy.errstate(invalid="ignore", divide="ignore"):
        cosines = rows @ rows[row] / (norms * norms[row])
    cosines[~numpy.isfinite(cosines)] = -2
    cosines[row] = -2
    return numpy.asarray(cosines)


def _stable_neighbours(
    words: Sequence[str], cosines: NDArray[numpy.float64], n: int, confidence: float
) -> tuple[StableNeighbour, ...]:
    """Find the `n` words of highest mean cosine over the runs [runs words]."""
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

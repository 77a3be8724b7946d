"""A sparse table of translations, p(target word | source word), and the alignments that follow from it.

Created by `alignment.fit_lexicon`. Words are ids here; the empty word NULL, which explains target words that no source
word explains, has the row after the last source id.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy
from numpy.typing import ArrayLike, NDArray
from safetensors.numpy import load, save

from pellucid.alignment.lexicon_kernels import LexiconArrays, best_sources, posteriors
from pellucid.errors import UserError
from pellucid.storage.files import write_bytes

__all__ = ["FitReport", "Lexicon", "Link", "check_prior"]

Link = tuple[int, int]

FORMAT = "1"
MAX_TENSION = 60.0  # e^60 and its inverse still fit in a float32


@dataclass(frozen=True)
class FitReport:
    """How a lexicon was fitted.

    Attributes:
        pairs: sentence pairs given.
        used: pairs used; the others are `blank` (a side without tokens), `long` (a side over the limit) or `sampled`
            (left out evenly over the whole corpus, so that the tables fit in memory).
        target_tokens: target tokens used.
        log_likelihoods: mean log-probability of a target token given its source sentence, nats, before the first
            iteration and after each.
    """

    pairs: int
    used: int
    blank: int
    long: int
    sampled: int
    target_tokens: int
    log_likelihoods: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Lexicon:
    """p(target id | source id), with a prior for links near the diagonal.

    Row r, a source id or `null_id`, has the entries `row_starts[r]` to `row_starts[r + 1]` of `columns` (target ids,
    ascending) and `probabilities`. A row sums to less than 1, because of pruning and, unless concentration was 0,
    because of the uncertainty about rare words (their entries are exp E[log p]; those of a word seen once sum to about
    0.6). A source id that never occurred has no entries.

    Attributes:
        row_starts: int64 [source_vocab_size + 2].
        columns: int32 [entries].
        probabilities: float32 [entries].
        source_counts: int64 [source_vocab_size], how often each source id occurs in the pairs used.
        diagonal_tension: λ of the prior; 0 is flat.
        null_probability: prior probability of NULL.
    """

    row_starts: NDArray[numpy.int64]
    columns: NDArray[numpy.int32]
    probabilities: NDArray[numpy.float32]
    source_counts: NDArray[numpy.int64]
    target_vocab_size: int
    diagonal_tension: float
    null_probability: float
    report: FitReport

    @property
    def source_vocab_size(self) -> int:
        """Number of source ids."""
        return len(self.row_starts) - 2

    @property
    def null_id(self) -> int:
        """The row of the empty word."""
        return self.source_vocab_size

    def row(self, source_id: int) -> tuple[NDArray[numpy.int32], NDArray[numpy.float32]]:
        """The target ids of a row, ascending, and their probabilities."""
        if not 0 <= source_id <= self.null_id:
            raise IndexError(f"source id {source_id} of {self.source_vocab_size}")
        entries = slice(self.row_starts[source_id], self.row_starts[source_id + 1])
        return self.columns[entries], self.probabilities[entries]

    def translations(self, source_id: int, n: int = 10) -> list[tuple[int, float]]:
        """The `n` most probable target ids of a row with their probabilities, best first."""
        columns, probabilities = self.row(source_id)
        best = numpy.argsort(-probabilities, kind="stable")[:n]
        return [(int(columns[entry]), float(probabilities[entry])) for entry in best]

    def posteriors(self, source_ids: ArrayLike, target_ids: ArrayLike) -> NDArray[numpy.float32]:
        """Compute how probably each source token generated each target token, float32 [target, source].

        p(i | j) ∝ (1 − p₀) · exp(−λ·|(i+½)/S − (j+½)/T|) / Z_j · p(t_j | s_i). The remainder to 1 is NULL's share.
        Words without an entry have probability 1e-9.

        Raises:
            ValueError: for an id outside the vocabulary.
        """
        source, target = _flat(source_ids), _flat(target_ids)
        batch = self.batch_posteriors(source[None], [len(source)], target[None], [len(target)])
        return batch.reshape(len(target), len(source))

    def batch_posteriors(
        self, source_ids: ArrayLike, source_lengths: ArrayLike, target_ids: ArrayLike, target_lengths: ArrayLike
    ) -> NDArray[numpy.float32]:
        """Compute the posteriors of a batch of sentence pairs, float32 [batch, target, source], 0 at padding.

        Args:
            source_ids, target_ids: int [batch, source] and [batch, target]; values beyond a length are ignored.
            source_lengths, target_lengths: int [batch].

        Raises:
            ValueError: for an id outside the vocabulary, or inconsistent shapes.
        """
        # Copies of one type: Numba compiles again for every other type and for read-only arrays.
        source, target = numpy.array(source_ids, numpy.int64), numpy.array(target_ids, numpy.int64)
        batch, given = len(source), (numpy.array(source_lengths), numpy.array(target_lengths))
        if source.ndim != 2 or target.ndim != 2 or any(len(array) != batch for array in (target, *given)):
            raise ValueError(f"expected two padded batches with their lengths, got {source.shape} and {target.shape}")
        lengths, widths = numpy.array(given, numpy.int64), numpy.array([[source.shape[1]], [target.shape[1]]])
        if (lengths < 0).any() or (lengths > widths).any():
            raise ValueError(f"a length exceeds the width of its batch: {lengths.tolist()}")
        out = numpy.zeros((batch, target.shape[1], source.shape[1]), numpy.float32)
        if not posteriors(self._arrays, source, target, lengths, out):
            raise ValueError(
                f"an id is outside the vocabularies of {self.source_vocab_size} and {self.target_vocab_size}"
            )
        return out

    def links(self, source_ids: ArrayLike, target_ids: ArrayLike) -> list[Link]:
        """Link each target token to its most probable source token: (source position, target position).

        A target token has no link if NULL is more probable than any source token. Ties go to the first. In this model
        the best link of each token gives the best alignment of the sentence (the Viterbi alignment).
        """
        return self.batch_links([_flat(source_ids)], [_flat(target_ids)])[0]

    def batch_links(self, sources: Sequence[ArrayLike], targets: Sequence[ArrayLike]) -> list[list[Link]]:
        """Link the tokens of many sentence pairs."""
        source_starts, source_ids = _joined(sources)
        target_starts, target_ids = _joined(targets)
        best = numpy.empty(len(target_ids), numpy.int64)
        if not best_sources(self._arrays, source_starts, source_ids, target_starts, target_ids, best):
            raise ValueError(
                f"an id is outside the vocabularies of {self.source_vocab_size} and {self.target_vocab_size}"
            )
        chosen = best.tolist()
        return [
            [(i, j) for j, i in enumerate(chosen[start:end]) if i >= 0]
            for start, end in zip(target_starts[:-1].tolist(), target_starts[1:].tolist(), strict=True)
        ]

    @property
    def _arrays(self) -> LexiconArrays:
        return LexiconArrays(*(getattr(self, name) for name in LexiconArrays._fields))

    def save(self, path: str | Path) -> None:
        """Write the lexicon to a safetensors file, whole or not at all.

        Raises:
            UserError: where the file cannot be written.
        """
        about = {
            "format": FORMAT,
            "kind": "lexicon",
            "target_vocab_size": str(self.target_vocab_size),
            "diagonal_tension": repr(self.diagonal_tension),
            "null_probability": repr(self.null_probability),
            "report": json.dumps(vars(self.report)),
        }
        tensors = {name: getattr(self, name) for name in _DTYPES}
        write_bytes(path, save(tensors, {"pellucid": json.dumps(about)}))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a lexicon that `save` wrote.

        Raises:
            UserError: if the file is missing, damaged, or not a lexicon.
        """
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            hint = "Check the path, or create the lexicon again from the text."
            raise UserError(f"cannot read the lexicon: {error.strerror}", where=str(path), hint=hint) from error
        try:
            about = _metadata(content)
            report = json.loads(about["report"])
            report["log_likelihoods"] = tuple(report["log_likelihoods"])
            tensors = load(content)
            arrays = {name: tensors[name].astype(dtype) for name, dtype in _DTYPES.items()}
            lexicon = cls(
                **arrays,
                target_vocab_size=int(about["target_vocab_size"]),
                diagonal_tension=float(about["diagonal_tension"]),
                null_probability=float(about["null_probability"]),
                report=FitReport(**report),
            )
            lexicon._check()
        except Exception as error:  # any error that a damaged file causes in its reader
            raise UserError(
                "not a lexicon that this version can read",
                where=str(path),
                hint="Create it again from the text, with the command that wrote it.",
            ) from error
        return lexicon

    def _check(self) -> None:
        """Raise ValueError unless every index is in range, which the kernels do not check."""
        starts, columns = self.row_starts, self.columns
        check_prior(self.diagonal_tension, self.null_probability)
        if starts.ndim != 1 or len(starts) < 2 or starts[0] != 0 or (numpy.diff(starts) < 0).any():
            raise ValueError("row starts do not ascend from 0")
        if columns.shape != (starts[-1],) or self.probabilities.shape != columns.shape:
            raise ValueError("entries do not fill the rows")
        if len(columns) and not 0 <= columns.min() <= columns.max() < self.target_vocab_size:
            raise ValueError("a column is outside the vocabulary")
        inside = numpy.ones(len(columns), bool)  # entries after the first of their row
        inside[starts[:-1][starts[:-1] < len(columns)]] = False
        if (numpy.diff(columns)[inside[1:]] <= 0).any():
            raise ValueError("columns of a row do not ascend")
        if self.source_counts.shape != (self.source_vocab_size,):
            raise ValueError("source counts do not fit the rows")
        if not ((self.probabilities >= 0) & (self.probabilities <= 1.001)).all():
            raise ValueError("a probability is outside 0 to 1")


_DTYPES: dict[str, Any] = {
    "row_starts": numpy.int64,
    "columns": numpy.int32,
    "probabilities": numpy.float32,
    "source_counts": numpy.int64,
}


def check_prior(diagonal_tension: float, null_probability: float) -> None:
    """Raise ValueError for an invalid prior, or one out of the range of float32."""
    if not 0 <= diagonal_tension <= MAX_TENSION:
        raise ValueError(f"diagonal_tension must be from 0 to {MAX_TENSION:g}, got {diagonal_tension}")
    if not 0 < null_probability < 1:
        raise ValueError(f"null_probability must be between 0 and 1, got {null_probability}")


def _metadata(content: bytes) -> dict[str, str]:
    """Read the metadata that `save` wrote: safetensors reads metadata only from files on disk."""
    length = int.from_bytes(content[:8], "little")
    about: dict[str, str] = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["pellucid"])
    if about["format"] != FORMAT or about["kind"] != "lexicon":
        raise ValueError(f"format {about['format']}, kind {about['kind']}")
    return about


def _flat(ids: ArrayLike) -> NDArray[numpy.int64]:
    array = numpy.array(ids)
    return array.astype(numpy.int64) if array.size else numpy.zeros(0, numpy.int64)


def _joined(sequences: Sequence[ArrayLike]) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]:
    arrays = [_flat(ids) for ids in sequences]
    starts = numpy.zeros(len(arrays) + 1, numpy.int64)
    numpy.cumsum([len(array) for array in arrays], out=starts[1:])
    return starts, numpy.concatenate([*arrays, numpy.zeros(0, numpy.int64)])

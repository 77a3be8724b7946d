"""Rounds of training, shared between threads.

A round is a part of the text on each desk. In a deterministic training the threads meet between laying out, training
and merging (`parts.py`), and the number of desks is a setting; with `fast` there are as many desks as threads, and one
alone changes the model in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from pellucid.errors import UserError
from pellucid.kernels.barrier import create_barrier
from pellucid.kernels.simd import aligned_zeros
from pellucid.randomness import derive_seed
from pellucid.word_vectors.config import VectorsConfig
from pellucid.word_vectors.encoded_text import EncodedText
from pellucid.word_vectors.huffman import build_huffman_tree
from pellucid.word_vectors.negative_sampling import negative_sampling
from pellucid.word_vectors.noise import build_noise_table
from pellucid.word_vectors.shards import EpochPlan, ShardedText, allocate_buffers, split_into_shards
from pellucid.word_vectors.softmax import run_softmax_rounds
from pellucid.word_vectors.subsampling import keep_probabilities, keep_thresholds

__all__ = ["Matrices", "RoundResult", "RoundRunner", "cbow_weights", "loss_of"]

Floats = NDArray[numpy.float64]

DEFAULT_WORKERS = 4
_SMALL_VOCABULARY = 2000  # below it desks would have too few words of their own to draw
_SMALL_TEXT = 200_000  # words; below it one desk is fast enough, and plain gradient descent
_MIN_WORDS_PER_WORKER = 16  # the fewest that a desk may have to draw negatives from in a round
_SHARD_WORDS, _MIN_SHARD_WORDS = 400, 100
_IN_PLACE_SHARD_WORDS = 2000
_GROUP = 4  # at least so many words share an entry of the noise table, so that more of it stays in the cache
_MOST_WORDS_OF_FULL_SOFTMAX = 50_000
_SETTLING = 1.0  # how far of its way a row goes in an occurrence of its word, divided by the learning rate


RateAt = Callable[[Floats], Floats]
"""Learning rates by the progress of the whole training, 0 to 1."""


class RoundResult(NamedTuple):
    """What some rounds came to: summed loss in nats, predictions it is the loss of, and words read."""

    loss: float
    predictions: int
    words: int


class Matrices(NamedTuple):
    """The two matrices, float32 [rows, d filled up to a multiple of 16], rows beginning on a multiple of 64 bytes.

    `outputs` has a row a word, or, for hierarchical softmax, a row for each inner node of the tree.
    """

    inputs: NDArray[numpy.float32]
    outputs: NDArray[numpy.float32]

    def unpadded(self, dim: int) -> tuple[NDArray[numpy.float32], NDArray[numpy.float32]]:
        """Return copies without the filling."""
        return self.inputs[:, :dim].copy(), self.outputs[:, :dim].copy()

    def finite(self) -> bool:
        """Tell whether the most frequent words' rows are all finite: what goes wrong goes wrong there first."""
        return bool(numpy.isfinite(self.inputs[:100]).all() and numpy.isfinite(self.outputs[:100]).all())


class RoundRunner:
    """A training's model, and what takes it on by rounds.

    Negative sampling is deterministic at any number of threads; the two softmaxes are so by taking one.

    Args:
        threads: wanted; no more than there are desks are used.

    Raises:
        UserError: for a full softmax over too many words, or a model too large for the memory.
    """

    def __init__(self, text: EncodedText, config: VectorsConfig, threads: int) -> None:
        self.config = config
        vocab_size, words = len(text.words), len(text.ids.ids)
        sampled = config.objective == "negative-sampling"
        small = vocab_size < _SMALL_VOCABULARY or words < _SMALL_TEXT
        asked = threads if config.fast else config.workers or (1 if small else DEFAULT_WORKERS)
        n_workers = min(asked, max(1, vocab_size // _MIN_WORDS_PER_WORKER)) if sampled else 1
        self.local_copies = n_workers > 1
        in_place = config.fast and not self.local_copies
        borders = split_into_shards(text.ids.ends, config.shard_words or _choose_shard_words(words, in_place))
        self.threads = min(threads, n_workers)
        self.rounds = -(-(len(borders) - 1) // n_workers)
        keep = keep_thresholds(keep_probabilities(text.counts, config.sample, config.sample_formula))
        self.text = ShardedText(text.ids.ids, text.ids.ends, borders, keep)
        try:
            self.matrices = Matrices(aligned_zeros(vocab_size, config.dim), aligned_zeros(vocab_size, config.dim))
        except MemoryError as error:
            raise UserError(
                f"not enough memory for two matrices of {vocab_size:,} words by {config.dim:,} dimensions "
                f"({8 * vocab_size * config.dim / 1e9:,.1f} GB)",
                where="dim",
                hint="Lower dim, raise min_count, or give max_vocab.",
            ) from error
        self._targets: NamedTuple
        self._run: Any
        if sampled:
            n_samplers = n_workers if self.local_copies else 1
            group = n_samplers if small else n_samplers * -(-_GROUP // n_samplers)
            self._targets = build_noise_table(text.counts, config.noise_exponent, group)
            self._run = negative_sampling(config.model == "cbow", config.negative, self.matrices.inputs.shape[1] // 16)
        else:
            if config.objective == "full-softmax" and vocab_size > _MOST_WORDS_OF_FULL_SOFTMAX:
                raise UserError(
                    f"a full softmax over {vocab_size:,} words takes too long",
                    hint=f"Up to {_MOST_WORDS_OF_FULL_SOFTMAX:,} words it works: give max_vocab, or take "
                    "negative-sampling or hierarchical-softmax.",
                )
            self._targets = build_huffman_tree(text.counts)
            self._run = run_softmax_rounds
        try:
            self.workers = allocate_buffers(
                n_workers,
                int(numpy.diff(borders).max()) + 2 * config.window,
                vocab_size,
                config.dim,
                window=config.window,
                negative=config.negative,
                local_copies=self.local_copies,
            )
        except MemoryError as error:
            raise UserError(
                f"not enough memory for {n_workers} shards of {int(numpy.diff(borders).max()):,} words",
                where="shard_words",
                hint="Lower shard_words, workers or dim.",
            ) from error
        self._pool: ThreadPoolExecutor | None = None
        self._gathering = create_barrier()
        self._planned: tuple[int, EpochPlan] | None = None

    @contextmanager
    def started(self) -> Iterator[RoundRunner]:
        """Keep threads ready."""
        if self.threads == 1:
            yield self
            return
        with ThreadPoolExecutor(self.threads, "word vectors") as self._pool:
            try:
                yield self
            finally:
                self._pool = None

    def run(self, epoch: int, first: int, last: int, rate_at: RateAt) -> RoundResult:
        """Run rounds `first` to `last` (exclusive) of an epoch."""
        if self._planned is None or self._planned[0] != epoch:
            self._planned = (epoch, self._plan(epoch, rate_at))
        plan = self._planned[1]
        self.workers.counts[:, 2:4], self.workers.summed_loss[:] = 0, 0
        self.workers.loss[:, :16], self.workers.loss[:, 16:32] = 1, 0
        if self._pool is None:
            self._work(plan, first, last, 0)
        else:
            self._work_together(plan, first, last)
        loss = sum(loss_of(of_worker) for of_worker in self.workers.loss) + float(self.workers.summed_loss.sum())
        return RoundResult(loss, int(self.workers.counts[:, 2].sum()), int(self.workers.counts[:, 3].sum()))

    def _work_together(self, plan: EpochPlan, first: int, last: int) -> None:
        """Do some rounds by all threads, which begin only when each of them is there: they wait for one another."""
        assert self._pool is not None
        begin, given_up = Event(), Event()

        def work(thread: int) -> None:
            begin.wait()
            if not given_up.is_set():
                self._work(plan, first, last, thread)

        try:
            jobs = [self._pool.submit(work, thread) for thread in range(self.threads)]
        except BaseException:
            given_up.set()
            raise
        finally:
            begin.set()
        for job in jobs:
            job.result()

    def _work(self, plan: EpochPlan, first: int, last: int, thread: int) -> None:
        """Do a thread's share of some rounds."""
        self._run(
            self.text,
            *self.matrices,
            self._targets,
            self.workers,
            plan,
            self.config.window,
            first,
            last,
            thread,
            self.threads,
            self._gathering,
        )

    def _plan(self, epoch: int, rate_at: RateAt) -> EpochPlan:
        """Return what the rounds of an epoch need; nothing of it depends on threads."""
        borders = self.text.borders
        begin = borders[numpy.minimum(numpy.arange(self.rounds) * len(self.workers.counts), len(borders) - 1)]
        progress = (epoch + begin / borders[-1]) / self.config.epochs
        rates = rate_at(progress).astype(numpy.float32)
        keys = numpy.random.Generator(numpy.random.PCG64(derive_seed(self.config.seed, "rounds", epoch)))
        return EpochPlan(
            seed=numpy.array([derive_seed(self.config.seed, "parts", epoch)], numpy.uint64),
            keys=keys.integers(0, 2**63, self.rounds).astype(numpy.uint64),
            rates=rates,
            damping=(_SETTLING * rates).astype(numpy.float32),
            dynamic=numpy.array([self.config.dynamic_window]),
            cbow=numpy.array([self.config.model == "cbow"]),
            full=numpy.array([self.config.objective == "full-softmax"]),
            local_copies=numpy.array([self.local_copies]),
            weights=cbow_weights(self.config),
        )


def cbow_weights(config: VectorsConfig) -> NDArray[numpy.float32]:
    """Return how much of its context's sum h is, and of h's gradient each context moves, as (1/n, 1) coefficients."""
    back = [0, 1] if config.cbow_sum or config.cbow_gradient == "classic" else [1, 0]
    return numpy.array([*([0, 1] if config.cbow_sum else [1, 0]), *back], numpy.float32)


def loss_of(product: NDArray[numpy.float32]) -> float:
    """Return −log Π p of a desk, nats; see `updates.py`."""
    mantissas, exponents = product[:16].astype(numpy.float64), product[16:32].view(numpy.int32)
    return float(-numpy.log(mantissas).sum() - numpy.log(2) * exponents.sum(dtype=numpy.int64))


def _choose_shard_words(words: int, in_place: bool) -> int:
    """Return how many words a part has: few where there are few, so that rounds are many."""
    if in_place:
        return max(_MIN_SHARD_WORDS, min(_IN_PLACE_SHARD_WORDS, words // 500))
    return max(_MIN_SHARD_WORDS, min(_SHARD_WORDS, words // 4000))

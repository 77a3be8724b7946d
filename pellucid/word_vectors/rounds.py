"""Rounds of training, shared between threads.

A round is one shard of the text per worker. In deterministic training the threads wait at a barrier between gathering,
training and reducing (`shards.py`), and the number of workers is a setting; with `fast` there is one worker per thread,
and if there is only one, it updates the model in place.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any, NamedTuple, Self

import numpy
from numpy.typing import NDArray

from pellucid.errors import UserError
from pellucid.kernels.barrier import create_barrier
from pellucid.kernels.simd import aligned_zeros
from pellucid.randomness import derive_seed
from pellucid.word_vectors.config import VectorsConfig
from pellucid.word_vectors.encoded_text import EncodedText
from pellucid.word_vectors.huffman import build_huffman_tree
from pellucid.word_vectors.negative_sampling import compile_negative_sampling
from pellucid.word_vectors.noise import build_noise_table
from pellucid.word_vectors.shards import EpochArrays, EpochPlan, ShardedText, allocate_buffers, split_into_shards
from pellucid.word_vectors.softmax import run_softmax_rounds
from pellucid.word_vectors.subsampling import keep_probabilities, keep_thresholds

__all__ = ["Matrices", "RoundResult", "RoundRunner", "cbow_weights", "loss_of"]

Floats = NDArray[numpy.float64]

DEFAULT_WORKERS = 4
_SMALL_VOCABULARY = 2000  # below this, workers would have too few words of their own to sample
_SMALL_TEXT = 200_000  # words; below this, use one worker: it is fast enough and equals plain SGD
_MIN_WORDS_PER_WORKER = 16  # words from which a worker samples negatives in a round
_SHARD_WORDS, _MIN_SHARD_WORDS = 400, 100
_IN_PLACE_SHARD_WORDS = 2000
_GROUP = 4  # minimum group size of the noise table; larger groups make the table smaller, so it fits in the cache
_MAX_WORDS_OF_FULL_SOFTMAX = 50_000
# Fraction of the remaining distance to its optimum by which one update moves a row, per unit of learning rate.
_DAMPING = 1.0


RateAt = Callable[[Floats], Floats]
"""Maps training progress, 0 to 1, to learning rates."""


class RoundResult(NamedTuple):
    """The result of several rounds: summed loss in nats, number of predictions, and number of words read."""

    loss: float
    predictions: int
    words: int


class Matrices(NamedTuple):
    """Input and output vectors, float32 [rows, d padded to a multiple of 16], each row aligned to 64 bytes.

    `outputs` has one row per word, or, for hierarchical softmax, one per inner node of the tree.
    """

    inputs: NDArray[numpy.float32]
    outputs: NDArray[numpy.float32]

    def unpadded(self, dim: int) -> tuple[NDArray[numpy.float32], NDArray[numpy.float32]]:
        """Copy both without the padding."""
        return self.inputs[:, :dim].copy(), self.outputs[:, :dim].copy()

    def finite(self) -> bool:
        """Whether the rows of the most frequent words are finite; divergence shows there first."""
        return bool(numpy.isfinite(self.inputs[:100]).all() and numpy.isfinite(self.outputs[:100]).all())


class RoundRunner:
    """The matrices of a training run, and the rounds that update them.

    Negative sampling is deterministic for any number of threads; the two softmaxes use a single thread.

    Args:
        threads: maximum number of threads; at most one per worker is used.

    Raises:
        UserError: for a full softmax over too many words, or too little memory.
    """

    def __init__(self, text: EncodedText, config: VectorsConfig, threads: int) -> None:
        self.config = config
        vocab_size, words = len(text.words), len(text.ids.ids)
        sampled = config.objective == "negative-sampling"
        small = vocab_size < _SMALL_VOCABULARY or words < _SMALL_TEXT
        requested = threads if config.fast else config.workers or (1 if small else DEFAULT_WORKERS)
        n_workers = min(requested, max(1, vocab_size // _MIN_WORDS_PER_WORKER)) if sampled else 1
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
                hint="Lower dim, raise min_count, or set max_vocab.",
            ) from error
        self._targets: NamedTuple
        self._run: Any
        if sampled:
            group = n_workers if small else n_workers * -(-_GROUP // n_workers)
            self._targets = build_noise_table(text.counts, config.noise_exponent, group)
            self._run = compile_negative_sampling(
                config.model == "cbow", config.negative, self.matrices.inputs.shape[1] // 16
            )
        else:
            if config.objective == "full-softmax" and vocab_size > _MAX_WORDS_OF_FULL_SOFTMAX:
                raise UserError(
                    f"a full softmax over {vocab_size:,} words would take too long",
                    where="objective",
                    hint=f"Set max_vocab to at most {_MAX_WORDS_OF_FULL_SOFTMAX:,}, or use negative-sampling or "
                    "hierarchical-softmax.",
                )
            self._targets = build_huffman_tree(text.counts)
            self._run = run_softmax_rounds
        longest = int(numpy.diff(borders).max())
        try:
            self.buffers = allocate_buffers(n_workers, longest + 2 * config.window, vocab_size, config)
        except MemoryError as error:
            raise UserError(
                f"not enough memory for {n_workers} shards of {longest:,} words",
                where="shard_words",
                hint="Lower shard_words, workers or dim.",
            ) from error
        self._pool: ThreadPoolExecutor | None = None
        self._barrier = create_barrier()
        self._plan_of_epoch: tuple[int, EpochPlan] | None = None

    @contextmanager
    def started(self) -> Iterator[Self]:
        """Keep a thread pool alive."""
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
        if self._plan_of_epoch is None or self._plan_of_epoch[0] != epoch:
            self._plan_of_epoch = (epoch, self._plan(epoch, rate_at))
        plan = self._plan_of_epoch[1]
        self.buffers.counts[:, 2:4], self.buffers.summed_loss[:] = 0, 0
        self.buffers.loss[:, :16], self.buffers.loss[:, 16:32] = 1, 0
        if self._pool is None:
            self._work(plan, first, last, 0)
        else:
            self._work_together(plan, first, last)
        loss = sum(loss_of(of_worker) for of_worker in self.buffers.loss) + float(self.buffers.summed_loss.sum())
        return RoundResult(loss, int(self.buffers.counts[:, 2].sum()), int(self.buffers.counts[:, 3].sum()))

    def _work_together(self, plan: EpochPlan, first: int, last: int) -> None:
        """Run rounds on all threads, which start only once all of them exist, since they wait for each other."""
        assert self._pool is not None
        begin, cancelled = Event(), Event()

        def work(thread: int) -> None:
            begin.wait()
            if not cancelled.is_set():
                self._work(plan, first, last, thread)

        try:
            jobs = [self._pool.submit(work, thread) for thread in range(self.threads)]
        except BaseException:
            cancelled.set()
            raise
        finally:
            begin.set()
        for job in jobs:
            job.result()

    def _work(self, plan: EpochPlan, first: int, last: int, thread: int) -> None:
        """Run one thread's share of the rounds."""
        arrays = EpochArrays(self.text, *self.matrices, self._targets, self.buffers, plan, self.config.window)
        self._run(arrays, first, last, thread, self.threads, self._barrier)

    def _plan(self, epoch: int, rate_at: RateAt) -> EpochPlan:
        """Build the plan of an epoch, which does not depend on the number of threads."""
        borders = self.text.borders
        begin = borders[numpy.minimum(numpy.arange(self.rounds) * len(self.buffers.counts), len(borders) - 1)]
        progress = (epoch + begin / borders[-1]) / self.config.epochs
        rates = rate_at(progress).astype(numpy.float32)
        keys = numpy.random.Generator(numpy.random.PCG64(derive_seed(self.config.seed, "rounds", epoch)))
        return EpochPlan(
            seed=numpy.array([derive_seed(self.config.seed, "parts", epoch)], numpy.uint64),
            keys=keys.integers(0, 2**63, self.rounds).astype(numpy.uint64),
            rates=rates,
            damping=(_DAMPING * rates).astype(numpy.float32),
            dynamic=numpy.array([self.config.dynamic_window]),
            cbow=numpy.array([self.config.model == "cbow"]),
            full=numpy.array([self.config.objective == "full-softmax"]),
            local_copies=numpy.array([self.local_copies]),
            weights=cbow_weights(self.config),
        )


def cbow_weights(config: VectorsConfig) -> NDArray[numpy.float32]:
    """Compute CBOW's weights w₀ … w₃; see `EpochPlan.weights`."""
    back = [0, 1] if config.cbow_sum or config.cbow_gradient == "classic" else [1, 0]
    return numpy.array([*([0, 1] if config.cbow_sum else [1, 0]), *back], numpy.float32)


def loss_of(product: NDArray[numpy.float32]) -> float:
    """Compute −log Π p of a worker, in nats; see `updates.py`."""
    mantissas, exponents = product[:16].astype(numpy.float64), product[16:32].view(numpy.int32)
    return float(-numpy.log(mantissas).sum() - numpy.log(2) * exponents.sum(dtype=numpy.int64))


def _choose_shard_words(words: int, in_place: bool) -> int:
    """Choose the number of words per shard: fewer for a small text, so that there are many rounds."""
    if in_place:
        return max(_MIN_SHARD_WORDS, min(_IN_PLACE_SHARD_WORDS, words // 500))
    return max(_MIN_SHARD_WORDS, min(_SHARD_WORDS, words // 4000))

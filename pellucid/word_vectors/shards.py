"""The text in shards, and how shards trained in parallel update one model, whatever the number of threads.

An epoch is split into shards of a few hundred words; a *round* trains one shard per worker, in parallel. First each
worker gathers: it subsamples the words of its shard and copies their rows to its buffers (`gather_rows`). Then it
trains the shard (`negative_sampling.py`): it updates its own copies, and the rows of those negatives that only it may
sample in this round (`noise.py`). So no worker sees another's updates during the round. At the end of the round the
copies are reduced, in the order of the shards (`reduce_rows`). Threads share these three steps, and the result does
not depend on their number: same seed, same bits.

With `local_copies` off the rows of the model are updated in place, which is a little faster. With one shard at a time,
this is plain stochastic gradient descent.

A row copied by several workers changes by the sum of their changes, except for frequent words: each worker may already
have moved such a row nearly to its optimum, and the sum would overshoot by a factor of the number of workers. If n
updates cover the fraction 1 − (1−a)ⁿ of the distance to the optimum, the sum is damped by
(1 − (1−a)^Σn) / Σ(1 − (1−a)ⁿ).
"""

import math
from typing import Any, NamedTuple

import numpy
from numba import int32, int64, uint32, uint64
from numpy.typing import NDArray

from pellucid.kernels import simd
from pellucid.kernels.compilation import kernel, kernel_using
from pellucid.kernels.simd import aligned_zeros
from pellucid.word_vectors import negative_sampler, updates
from pellucid.word_vectors.config import VectorsConfig
from pellucid.word_vectors.negative_sampler import BATCH, random_bits
from pellucid.word_vectors.updates import add_movement, copy_row, prefetch_row

__all__ = [
    "EpochArrays",
    "EpochPlan",
    "ShardedText",
    "WorkerBuffers",
    "allocate_buffers",
    "gather_rows",
    "next_state",
    "reduce_rows",
    "split_into_shards",
]

_AHEAD = 4  # words to prefetch
_FEW = 32  # occurrences in a shard up to which the damping is tabulated


class ShardedText(NamedTuple):
    """The encoded text and its shards.

    Attributes:
        ids: int32, all sentences concatenated.
        ends: int64, where each sentence ends.
        borders: int64 [shards + 1], where shards begin and end.
        keep: uint32 [vocab_size], probability of keeping each occurrence of a word, in units of 2⁻³².
    """

    ids: NDArray[numpy.int32]
    ends: NDArray[numpy.int64]
    borders: NDArray[numpy.int64]
    keep: NDArray[numpy.uint32]


class WorkerBuffers(NamedTuple):
    """The buffers of all workers: the first axis of each array is the worker.

    Attributes:
        words: int32 [words], the words that are kept: indices of copies, or rows of the model without local copies.
        segments: int64 [segments, 3], for each sentence, which windows do not cross: indices in `words` of its first
            centre, one past its last centre, and its end. A segment begins where the previous one ends.
        counts: int64 [4]: number of segments and of copies; predictions and words read so far.
        state: uint64 [1], state of the random generator.
        slots: int32 [vocab_size], the index of a word's copies; −1 for none.
        owners: int32 [copies], the words of the copies.
        occurrences: int32 [copies], occurrences of each in `words`.
        inputs, outputs: float32 [copies, width], the copies.
        outputs_before: float32 [copies, width], output rows before the round; those of the model may change during it.
        contexts: int64 [words], addresses of the words' input rows.
        targets: int64, addresses of a window's output rows.
        negatives: int64, addresses of all negatives of the shard, window by window, with room for a batch of
            candidates.
        errors: float32, see `updates.update_pairs`.
        scratch: float32 [2 (negative + 1), width], temporary rows.
        loss: float32 [32], see `updates.py`.
        summed_loss: float64 [1], the loss where it is summed directly (`softmax.py`).
    """

    words: NDArray[numpy.int32]
    segments: NDArray[numpy.int64]
    counts: NDArray[numpy.int64]
    state: NDArray[numpy.uint64]
    slots: NDArray[numpy.int32]
    owners: NDArray[numpy.int32]
    occurrences: NDArray[numpy.int32]
    inputs: NDArray[numpy.float32]
    outputs: NDArray[numpy.float32]
    outputs_before: NDArray[numpy.float32]
    contexts: NDArray[numpy.int64]
    targets: NDArray[numpy.int64]
    negatives: NDArray[numpy.int64]
    errors: NDArray[numpy.float32]
    scratch: NDArray[numpy.float32]
    loss: NDArray[numpy.float32]
    summed_loss: NDArray[numpy.float64]


class EpochPlan(NamedTuple):
    """The parameters of an epoch's rounds.

    Attributes:
        seed: uint64 [1], seed of the epoch.
        keys: uint64 [rounds], which determine the words that each worker may sample in a round.
        rates: float32 [rounds], learning rates.
        damping: float32 [rounds], see `reduce_rows`.
        dynamic: bool [1], whether window sizes are sampled.
        cbow: bool [1], whether the model is CBOW.
        full: bool [1], whether the softmax is full rather than hierarchical.
        local_copies: bool [1], whether workers update copies of the rows rather than the model's rows.
        weights: float32 [4], weights of CBOW with n inputs: h = (w₀ / n + w₁) · Σ inputs, and the gradient of each
            input is (w₂ / n + w₃) times the gradient of h.
    """

    seed: NDArray[numpy.uint64]
    keys: NDArray[numpy.uint64]
    rates: NDArray[numpy.float32]
    damping: NDArray[numpy.float32]
    dynamic: NDArray[numpy.bool_]
    cbow: NDArray[numpy.bool_]
    full: NDArray[numpy.bool_]
    local_copies: NDArray[numpy.bool_]
    weights: NDArray[numpy.float32]


class EpochArrays(NamedTuple):
    """All that the rounds of an epoch read and write.

    Attributes:
        inputs, outputs: float32 [rows, width], the model.
        targets: a `NoiseTable` or a `HuffmanTree`.
        window: maximum number of context words on each side.
    """

    text: ShardedText
    inputs: NDArray[numpy.float32]
    outputs: NDArray[numpy.float32]
    targets: Any
    buffers: WorkerBuffers
    plan: EpochPlan
    window: int


def allocate_buffers(n_workers: int, longest: int, vocab_size: int, config: VectorsConfig) -> WorkerBuffers:
    """Allocate buffers for shards of at most `longest` words, margins included; a single worker needs no copies."""
    dim, negative = config.dim, config.negative
    copies = min(longest, vocab_size) if n_workers > 1 else 0
    loss = aligned_zeros(n_workers, 32)
    loss[:, :16] = 1
    return WorkerBuffers(
        words=aligned_zeros(n_workers, longest, dtype=numpy.int32),
        segments=numpy.zeros((n_workers, longest // 2 + 1, 3), numpy.int64),
        counts=aligned_zeros(n_workers, 4, dtype=numpy.int64),
        state=aligned_zeros(n_workers, 1, dtype=numpy.uint64),
        slots=numpy.full((n_workers, vocab_size if n_workers > 1 else 1), -1, numpy.int32),
        owners=aligned_zeros(n_workers, copies, dtype=numpy.int32),
        occurrences=aligned_zeros(n_workers, copies, dtype=numpy.int32),
        inputs=aligned_zeros(n_workers, copies, dim),
        outputs=aligned_zeros(n_workers, copies, dim),
        outputs_before=aligned_zeros(n_workers, copies, dim),
        contexts=aligned_zeros(n_workers, longest, dtype=numpy.int64),
        targets=aligned_zeros(n_workers, 2 * (negative + 1), dtype=numpy.int64),
        negatives=aligned_zeros(n_workers, (longest + 2) * negative + BATCH, dtype=numpy.int64),
        errors=aligned_zeros(n_workers, (2 * config.window + 1) * 8),
        scratch=aligned_zeros(n_workers, 2 * (negative + 1), dim),
        loss=loss,
        summed_loss=aligned_zeros(n_workers, 1, dtype=numpy.float64),
    )


def split_into_shards(ends: NDArray[numpy.int64], shard_words: int) -> NDArray[numpy.int64]:
    """Compute the borders of shards: the first sentence end after every `shard_words` words, but at most twice as many.

    Only longer sentences are split, and windows still reach the words beyond the split.
    """
    total = int(ends[-1]) if len(ends) else 0
    wanted = numpy.arange(shard_words, total, shard_words)
    following = ends[numpy.searchsorted(ends, wanted)]
    inner = numpy.where(following - wanted <= shard_words, following, wanted)
    return numpy.unique(numpy.concatenate([[0], inner, [total]])).astype(numpy.int64)


@kernel
def next_state(state: Any) -> Any:
    """Advance the state of a random generator (xorshift64)."""
    state ^= state << uint64(13)
    state ^= state >> uint64(7)
    state ^= state << uint64(17)
    return state


@kernel_using(negative_sampler, simd, updates)
def gather_rows(arrays: EpochArrays, worker: Any, shard: Any) -> Any:
    """Subsample a shard's words into a worker's buffers and copy their rows; nothing if there is no such shard.

    Each occurrence is kept with the probability in `text.keep`. A split sentence keeps margins: up to `window` words
    beyond each split are contexts, but not centres.
    """
    text, inputs, outputs, _, buffers, plan, window = arrays
    local_copies = plan.local_copies[0]
    words, slots, owners = buffers.words[worker], buffers.slots[worker], buffers.owners[worker]
    counts, segments, occurrences = buffers.counts[worker], buffers.segments[worker], buffers.occurrences[worker]
    counts[0] = counts[1] = 0
    if shard + 1 >= len(text.borders):
        return
    chunks, row_bytes = inputs.shape[1] // 16, 4 * inputs.shape[1]
    input_rows, output_rows = inputs.ctypes.data, outputs.ctypes.data
    input_copies, output_copies = buffers.inputs[worker].ctypes.data, buffers.outputs[worker].ctypes.data
    before = buffers.outputs_before[worker].ctypes.data
    begin, end = text.borders[shard], text.borders[shard + 1]
    counts[3] += end - begin
    state = random_bits(plan.seed[0], shard)
    sentence = numpy.searchsorted(text.ends, begin, side="right")
    kept = 0
    while sentence < len(text.ends):
        sentence_begin = text.ends[sentence - 1] if sentence > 0 else 0
        if sentence_begin >= end:
            break
        sentence_end = text.ends[sentence]
        first, last = max(sentence_begin, begin), min(sentence_end, end)
        segment, first_centre, last_centre = kept, kept, kept
        for at in range(max(sentence_begin, first - window), min(sentence_end, last + window)):
            if at == first:
                first_centre = kept
            word = text.ids[at]
            state = next_state(state)
            keep = uint32(state >> uint64(32)) <= text.keep[word]
            if not local_copies:
                words[kept] = word
            else:
                if at + _AHEAD < last and slots[text.ids[at + _AHEAD]] < 0:
                    coming = int64(text.ids[at + _AHEAD]) * row_bytes
                    prefetch_row(input_rows + coming, chunks)
                    prefetch_row(output_rows + coming, chunks)
                if keep:
                    place = slots[word]
                    if place < 0:
                        place = int32(counts[1])
                        counts[1] += 1
                        slots[word], owners[place], occurrences[place] = place, word, 0
                        source, target = int64(word) * row_bytes, int64(place) * row_bytes
                        copy_row(input_rows + source, input_copies + target, chunks)
                        copy_row(output_rows + source, output_copies + target, chunks)
                        copy_row(output_rows + source, before + target, chunks)
                    occurrences[place] += 1
                    words[kept] = place
            kept += 1 if keep else 0
            if at == last - 1:
                last_centre = kept
        if kept - segment < 2:
            kept = segment
        else:
            segments[counts[0], 0], segments[counts[0], 1], segments[counts[0], 2] = first_centre, last_centre, kept
            counts[0] += 1
        sentence += 1
    buffers.state[worker, 0] = state


@kernel_using(simd, updates)
def reduce_rows(arrays: EpochArrays, first: Any, step: Any, damping: Any) -> Any:
    """Add the changes of the workers' copies to the model's rows, for the words with word % step = first.

    Args:
        damping: a, the fraction of the remaining distance to its optimum that a row covers per occurrence of its word.
    """
    inputs, outputs, buffers = arrays.inputs, arrays.outputs, arrays.buffers
    n_workers = len(buffers.slots)
    chunks, row_bytes = inputs.shape[1] // 16, 4 * inputs.shape[1]
    input_rows, output_rows = inputs.ctypes.data, outputs.ctypes.data
    holders, places = numpy.empty(n_workers, numpy.int64), numpy.empty(n_workers, numpy.int64)
    moved = 1 - numpy.exp(-damping * numpy.arange(_FEW))
    scratch = buffers.scratch[first].ctypes.data
    for worker in range(n_workers):
        for slot in range(buffers.counts[worker, 1]):
            if slot + _AHEAD < buffers.counts[worker, 1]:
                coming = int64(buffers.owners[worker, slot + _AHEAD])
                if step == 1 or coming % step == first:
                    prefetch_row(input_rows + coming * row_bytes, chunks)
                    prefetch_row(output_rows + coming * row_bytes, chunks)
            word = int64(buffers.owners[worker, slot])
            own = step == 1 or word % step == first
            if not own or buffers.slots[worker, word] < 0:  # of another thread, or done with an earlier worker
                continue
            found, total, summed = 0, int64(0), 0.0
            for other in range(worker, n_workers):
                place = buffers.slots[other, word]
                if place >= 0:
                    buffers.slots[other, word] = -1
                    holders[found], places[found] = other, place
                    found += 1
                    occurrences = int64(buffers.occurrences[other, place])
                    total += occurrences
                    summed += moved[occurrences] if occurrences < _FEW else 1 - math.exp(-damping * occurrences)
            scale = numpy.float32(1)
            if found > 1 and summed > 0:
                together = moved[total] if total < _FEW else 1 - math.exp(-damping * total)
                scale = numpy.float32(together / summed)
            input_row, output_row = input_rows + word * row_bytes, output_rows + word * row_bytes
            copy_row(input_row, scratch, chunks)
            for at in range(found):
                place = places[at] * row_bytes
                add_movement(input_row, buffers.inputs[holders[at]].ctypes.data + place, scratch, scale, chunks)
                after = buffers.outputs[holders[at]].ctypes.data + place
                before = buffers.outputs_before[holders[at]].ctypes.data + place
                add_movement(output_row, after, before, scale, chunks)

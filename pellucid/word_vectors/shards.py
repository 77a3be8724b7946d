"""The text in parts, and how parts trained at the same time add up to one model, whatever the number of threads.

An epoch is cut into parts of some hundred words; a *round* trains as many as there are desks, side by side. Before
it, every part is laid out: its words are sub-sampled, and the rows of its words are copied to its desk (`gather_rows`).
Then each part is trained by itself (`negative_sampling.py`): it changes its own copies, and of the rows of words that
it draws as false targets those that it alone may draw in this round (`noise.py`). So no part sees what another does
meanwhile. At the end of the round the copies are put together, the parts in their order (`reduce_rows`). Threads share
these three pieces of work between them, and what comes out does not depend on how many they are: same seed, same
bits.

With `local_copies` off the rows of the model are changed in place, which is a little faster: one part at a time, that
is plain stochastic gradient descent.

A row that several parts have copied moves by the sum of their movements, but for a frequent word, whose row each of
them may already have moved nearly to where it belongs; the sum would go m times as far. If a row's movement in n
updates is taken to be the fraction 1 − (1−a)ⁿ of its way, the sum is scaled by (1 − (1−a)^Σn) / Σ(1 − (1−a)ⁿ).
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
from pellucid.word_vectors.negative_sampler import BATCH, random_bits
from pellucid.word_vectors.updates import add_movement, copy_row, prefetch_row

__all__ = [
    "EpochPlan",
    "ShardedText",
    "WorkerBuffers",
    "allocate_buffers",
    "gather_rows",
    "next_state",
    "reduce_rows",
    "split_into_shards",
]

_AHEAD = 4  # words whose rows are on their way
_FEW = 32  # occurrences in a part, for which a row's settling is looked up


class ShardedText(NamedTuple):
    """What is read.

    Attributes:
        ids: int32, all sentences one after another.
        ends: int64, where each sentence ends.
        borders: int64 [parts + 1], where parts begin and end.
        keep: uint32 [vocab_size], of how many 2⁻³² of its places a word is kept when words are sub-sampled.
    """

    ids: NDArray[numpy.int32]
    ends: NDArray[numpy.int64]
    borders: NDArray[numpy.int64]
    keep: NDArray[numpy.uint32]


class WorkerBuffers(NamedTuple):
    """What parts are trained on, one a desk: all arrays begin with an axis for the desks.

    Attributes:
        words: int32 [words], those that are kept: places of copies, or rows of the model where nothing is copied.
        pieces: int64 [pieces, 3], of a piece of text that windows do not leave: the first of `words` and the last that
            is a centre (exclusive), and its end. It begins where the one before ends.
        counts: int64 [4]: pieces, copies, predictions trained so far, words read so far.
        state: uint64 [1], of the random generator.
        slots: int32 [vocab_size], where a word's copies lie; −1 for nowhere.
        owners: int32 [copies], the words of the copies.
        occurrences: int32 [copies], how often each stands in `words`.
        inputs, outputs: float32 [copies, width], the copies.
        outputs_before: float32 [copies, width], output rows as they were; in the model they may change meanwhile.
        contexts: int64 [words], addresses of the words' input rows.
        targets: int64, addresses of a window's output rows.
        drawn: int64, addresses of all false targets of the part, those of a window one after another, and room for a
            batch of candidates.
        errors: float32, see `updates.update_pairs`.
        spare: float32 [2 (negative + 1), width], rows to work with.
        loss: float32 [32], see `updates.py`.
        nats: float64 [1], the loss where it is summed up as it is (`softmax.py`).
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
    """What an epoch's rounds need to know.

    Attributes:
        seed: uint64 [1], of the epoch.
        keys: uint64 [rounds], what tells the rounds' random choices apart.
        rates: float32 [rounds], learning rates.
        settling: float32 [rounds], see `shards.reduce_rows`.
        dynamic: bool [1], whether a window's reach is drawn.
        cbow: bool [1], whether the model is CBOW.
        full: bool [1], whether the softmax is the full one and not a path in a tree.
        copying: bool [1], whether a part's rows are copies on its desk, or those of the model.
        weights: float32 [4], of CBOW: h = (w₀ / n + w₁) · Σ inputs, and inputs move by w₂ / n + w₃ times h's gradient.
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


def allocate_buffers(
    number: int, longest: int, vocab_size: int, dim: int, *, window: int, negative: int, local_copies: bool
) -> WorkerBuffers:
    """Return desks for parts of at most `longest` words, margins included."""
    copies = min(longest, vocab_size) if local_copies else 0
    loss = aligned_zeros(number, 32)
    loss[:, :16] = 1
    return WorkerBuffers(
        words=aligned_zeros(number, longest, dtype=numpy.int32),
        segments=numpy.zeros((number, longest // 2 + 1, 3), numpy.int64),
        counts=aligned_zeros(number, 4, dtype=numpy.int64),
        state=aligned_zeros(number, 1, dtype=numpy.uint64),
        slots=numpy.full((number, vocab_size if local_copies else 1), -1, numpy.int32),
        owners=aligned_zeros(number, copies, dtype=numpy.int32),
        occurrences=aligned_zeros(number, copies, dtype=numpy.int32),
        inputs=aligned_zeros(number, copies, dim),
        outputs=aligned_zeros(number, copies, dim),
        outputs_before=aligned_zeros(number, copies, dim),
        contexts=aligned_zeros(number, longest, dtype=numpy.int64),
        targets=aligned_zeros(number, 2 * (negative + 1), dtype=numpy.int64),
        negatives=aligned_zeros(number, (longest + 2) * negative + BATCH, dtype=numpy.int64),
        errors=aligned_zeros(number, (2 * window + 1) * 8),
        scratch=aligned_zeros(number, 2 * (negative + 1), dim),
        loss=loss,
        summed_loss=aligned_zeros(number, 1, dtype=numpy.float64),
    )


def split_into_shards(ends: NDArray[numpy.int64], shard_words: int) -> NDArray[numpy.int64]:
    """Return where parts begin and end: at the ends of sentences, every `shard_words` words or up to twice as many.

    Only a sentence that goes on for longer is cut, and at a cut windows see the words beyond it.
    """
    total = int(ends[-1]) if len(ends) else 0
    wanted = numpy.arange(shard_words, total, shard_words)
    following = ends[numpy.searchsorted(ends, wanted)]
    inner = numpy.where(following - wanted <= shard_words, following, wanted)
    return numpy.unique(numpy.concatenate([[0], inner, [total]])).astype(numpy.int64)


@kernel
def next_state(state: Any) -> Any:
    """Return the next state of a random generator (xorshift64)."""
    state ^= state << uint64(13)
    state ^= state >> uint64(7)
    state ^= state << uint64(17)
    return state


@kernel_using(negative_sampler, simd, updates)
def gather_rows(
    text: Any,
    inputs: Any,
    outputs: Any,
    buffers: Any,
    worker: Any,
    shard: Any,
    window: Any,
    seed: Any,
    local_copies: Any,
) -> Any:
    """Put a part's words on a desk, sub-sampled, and copies of their rows; nothing if there is no such part.

    Each word is kept with the probability that `text.keep` gives. A cut sentence keeps its margins: up to `window`
    words of text beyond each cut are there to be contexts, but are no centres.
    """
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
    state = random_bits(seed, shard)
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
def reduce_rows(inputs: Any, outputs: Any, buffers: Any, first: Any, step: Any, damping: Any) -> Any:
    """Move the model's rows by what the desks' copies of them have moved; of all words those with word % step = first.

    Args:
        settling: a, how far of its way a row goes in one occurrence of its word.
    """
    n_workers = len(buffers.slots)
    chunks, row_bytes = inputs.shape[1] // 16, 4 * inputs.shape[1]
    input_rows, output_rows = inputs.ctypes.data, outputs.ctypes.data
    holders, places = numpy.empty(n_workers, numpy.int64), numpy.empty(n_workers, numpy.int64)
    settled = 1 - numpy.exp(-damping * numpy.arange(_FEW))
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
            if not own or buffers.slots[worker, word] < 0:  # another thread's, or done at an earlier desk
                continue
            found, together, apart = 0, int64(0), 0.0
            for other in range(worker, n_workers):
                place = buffers.slots[other, word]
                if place >= 0:
                    buffers.slots[other, word] = -1
                    holders[found], places[found] = other, place
                    found += 1
                    occurrences = int64(buffers.occurrences[other, place])
                    together += occurrences
                    apart += settled[occurrences] if occurrences < _FEW else 1 - math.exp(-damping * occurrences)
            scale = numpy.float32(1)
            if found > 1 and apart > 0:
                after_all = settled[together] if together < _FEW else 1 - math.exp(-damping * together)
                scale = numpy.float32(after_all / apart)
            input_row, output_row = input_rows + word * row_bytes, output_rows + word * row_bytes
            copy_row(input_row, scratch, chunks)
            for at in range(found):
                place = places[at] * row_bytes
                add_movement(input_row, buffers.inputs[holders[at]].ctypes.data + place, scratch, scale, chunks)
                after = buffers.outputs[holders[at]].ctypes.data + place
                before = buffers.outputs_before[holders[at]].ctypes.data + place
                add_movement(output_row, after, before, scale, chunks)

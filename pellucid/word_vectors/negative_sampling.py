"""Skip-gram and CBOW with negative sampling over shards of the text: the hot loop of training.

Each word of a shard is a centre; its window has a random size from 1 to `window` words on each side, after subsampling.
In skip-gram each context's input row learns to tell the centre's output row from those of negatives sampled for this
window; in CBOW the mean of the contexts' input rows does.

Source:
    Mikolov et al. 2013 (Distributed Representations), eq. 4; Ji et al. 2016 (pWord2Vec) for negatives shared by the
    contexts of a window, whose pairs are updated by one gradient. Differs from source: a negative that equals the
    centre is sampled again; more than `TARGETS_AT_ONCE` targets are updated in blocks, one after another.
"""

from functools import cache
from typing import Any

from numba import float32, int64, uint64

from pellucid.kernels import barrier, simd
from pellucid.kernels.barrier import wait_at_barrier
from pellucid.kernels.compilation import kernel_using
from pellucid.word_vectors import negative_sampler, shards, updates
from pellucid.word_vectors.negative_sampler import (
    NegativeSampler,
    OutputRows,
    choose_member,
    output_row,
    random_bits,
    sample_rows,
)
from pellucid.word_vectors.shards import EpochArrays, gather_rows, next_state, reduce_rows
from pellucid.word_vectors.updates import (
    TARGETS_AT_ONCE,
    add_movement,
    copy_row,
    find_duplicates,
    prefetch_row,
    update_mean,
    update_pairs,
)

__all__ = ["compile_negative_sampling"]

_TRIES = 64


@kernel_using(negative_sampler)
def _next_negative(
    true_row: Any, negatives: Any, count: Any, next_one: Any, state: Any, sampler: Any, row_addresses: Any
) -> Any:
    """Find a negative other than the centre among those from `next_one` on, and where to look next."""
    for _ in range(_TRIES):
        row = negatives[next_one]
        next_one = next_one + 1 if next_one + 1 < count else 0
        if row != true_row:
            return row, next_one
    row, tries = true_row, 0
    while row == true_row:  # nearly all of the text is one word: use the first two groups
        word = choose_member(int64(tries & 1), sampler, random_bits(state, tries))
        row = output_row(word, row_addresses)
        tries += 1
    return row, next_one


@kernel_using(simd, updates)
def _separate_duplicates(targets: Any, n_targets: Any, duplicates: Any, scratch: Any) -> Any:
    """Replace each repeated negative of a window with a copy, since a row must not be updated twice."""
    for k in range(1, n_targets):
        if (duplicates >> k) & 1:
            targets[n_targets + k] = targets[k]
            targets[k] = scratch[k].ctypes.data
            copy_row(targets[n_targets + k], targets[k], scratch.shape[1] // 16)
            copy_row(targets[k], scratch[n_targets + k].ctypes.data, scratch.shape[1] // 16)


@kernel_using(simd, updates)
def _merge_duplicates(targets: Any, n_targets: Any, duplicates: Any, scratch: Any) -> Any:
    """Add the movements of these copies to the rows of the negatives."""
    for k in range(1, n_targets):
        if (duplicates >> k) & 1:
            before = scratch[n_targets + k].ctypes.data
            add_movement(targets[n_targets + k], targets[k], before, float32(1), scratch.shape[1] // 16)


@cache
def compile_negative_sampling(cbow: bool, negative: int, chunks: int) -> Any:
    """Compile the kernel that runs rounds, for a model, a number of negatives, and rows of 16 · `chunks` numbers."""
    row_bytes = 64 * chunks
    n_targets = negative + 1
    blocks = -(-n_targets // TARGETS_AT_ONCE)
    first_block = n_targets - (blocks - 1) * TARGETS_AT_ONCE

    @kernel_using(negative_sampler, simd, barrier, shards, updates)
    def run_rounds(
        arrays: EpochArrays, first_round: Any, last_round: Any, thread: Any, threads: Any, barrier_state: Any
    ) -> Any:
        """Run some rounds as one of several threads, which all call this; each handles every `threads`th worker."""
        _, inputs, outputs, noise, buffers, plan, window = arrays
        dynamic, local_copies = plan.dynamic[0], plan.local_copies[0]
        n_workers, group = len(buffers.counts), len(noise.accept) // len(noise.entries)
        model_rows, weights, entries, accept = outputs.ctypes.data, plan.weights, noise.entries, noise.accept
        for number in range(first_round, last_round):
            key, rate = plan.keys[number], plan.rates[number]
            for worker in range(thread, n_workers, threads):
                gather_rows(arrays, worker, number * n_workers + worker)
            if local_copies:
                wait_at_barrier(barrier_state, threads)
            for worker in range(thread, n_workers, threads):
                words, slots, scratch = buffers.words[worker], buffers.slots[worker], buffers.scratch[worker]
                negatives, loss = buffers.negatives[worker], buffers.loss[worker].ctypes.data
                contexts, targets = buffers.contexts[worker], buffers.targets[worker]
                errors = buffers.errors[worker].ctypes.data
                input_rows, output_rows = inputs.ctypes.data, outputs.ctypes.data
                if local_copies:
                    input_rows, output_rows = buffers.inputs[worker].ctypes.data, buffers.outputs[worker].ctypes.data
                context_list, target_list = contexts.ctypes.data, targets.ctypes.data
                to_output = output_rows - input_rows
                state = buffers.state[worker, 0]
                predictions, begin = 0, int64(0)
                kept = buffers.segments[worker, buffers.counts[worker, 0] - 1, 2] if buffers.counts[worker, 0] else 0
                seed, state = state, next_state(state)
                sampler = NegativeSampler(entries, accept, group, n_workers, key, worker)
                row_addresses = OutputRows(slots, output_rows if local_copies else 0, model_rows, row_bytes)
                for at in range(kept):
                    contexts[at] = input_rows + int64(words[at]) * row_bytes
                n_sampled = (kept + 1) * negative
                sample_rows(negatives, n_sampled, seed, sampler, row_addresses)
                at_row, next_one = 0, 0
                for segment in range(buffers.counts[worker, 0]):
                    end = buffers.segments[worker, segment, 2]
                    for centre in range(buffers.segments[worker, segment, 0], buffers.segments[worker, segment, 1]):
                        state = next_state(state)
                        reach = int64(window)
                        if dynamic:
                            reach -= int64(((state >> uint64(48)) * uint64(window)) >> uint64(16))
                        first, last = max(begin, centre - reach), min(end, centre + reach + 1)
                        # Overwrite the centre's entry with the first context, so that the contexts form one
                        # contiguous slice; restored below.
                        centre_row, contexts[centre] = contexts[centre], contexts[first]
                        rows, n = context_list + 8 * (first + 1), last - first - 1
                        if centre + window + 1 < end:
                            prefetch_row(contexts[centre + window + 1], chunks)
                        if centre + 1 < end:
                            prefetch_row(contexts[centre + 1] + to_output, chunks)
                        targets[0] = centre_row + to_output
                        for k in range(1, n_targets):
                            row = negatives[at_row + k - 1]
                            prefetch_row(negatives[at_row + negative + k - 1], chunks)
                            if row == targets[0]:
                                row, next_one = _next_negative(
                                    row, negatives, n_sampled, next_one, state, sampler, row_addresses
                                )
                            targets[k] = row
                        duplicates = find_duplicates(n_targets, target_list)
                        at_row += negative
                        if duplicates:
                            _separate_duplicates(targets, n_targets, duplicates, scratch)
                        others = target_list
                        weight, back = weights[0] / n + weights[1], weights[2] / n + weights[3]
                        if cbow:
                            update_mean(first_block, 1, chunks, rows, n, others, rate, weight, back, loss)
                            for block in range(blocks - 1):
                                others = target_list + 8 * (first_block + block * TARGETS_AT_ONCE)
                                update_mean(TARGETS_AT_ONCE, 0, chunks, rows, n, others, rate, weight, back, loss)
                        else:
                            update_pairs(first_block, 1, chunks, rows, n, others, rate, errors, loss)
                            for block in range(blocks - 1):
                                others = target_list + 8 * (first_block + block * TARGETS_AT_ONCE)
                                update_pairs(TARGETS_AT_ONCE, 0, chunks, rows, n, others, rate, errors, loss)
                        if duplicates:
                            _merge_duplicates(targets, n_targets, duplicates, scratch)
                        contexts[centre] = centre_row
                        predictions += 1 if cbow else n
                    begin = end
                buffers.counts[worker, 2] += predictions
            if local_copies:
                wait_at_barrier(barrier_state, threads)
                reduce_rows(arrays, thread, threads, plan.damping[number])
                wait_at_barrier(barrier_state, threads)

    return run_rounds

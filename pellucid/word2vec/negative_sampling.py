"""Skip-gram and CBOW with negative sampling, over parts of the text: the loop that all the time goes into.

Each word of a part is a centre; its window reaches a random 1 to `window` words that survived sub-sampling to each
side. Skip-gram makes each context's input row tell the centre's output row from those of some negatives, words drawn
at random for this window; CBOW makes the mean of the contexts' input rows do so.

Source:
    Mikolov et al. 2013 (Distributed Representations), eq. 4; Ji et al. 2016 (pWord2Vec) for negatives that are shared
    by the contexts of a window, whose pairs all move by one gradient. Differs from source: a negative that is the
    centre is drawn again; more than `TARGETS_AT_ONCE` targets move in blocks, one after another.
"""

from functools import cache
from typing import Any

from numba import float32, int64, uint64

from pellucid import lanes, meeting
from pellucid.kernels import kernel_using
from pellucid.meeting import meet
from pellucid.word2vec import drawing, parts, updates
from pellucid.word2vec.drawing import Draws, Places, draw_rows, member_of, row_of, start_of
from pellucid.word2vec.parts import lay_out, merge, step_of
from pellucid.word2vec.updates import (
    TARGETS_AT_ONCE,
    add_movement,
    copy_row,
    prefetch_row,
    repeated,
    update_mean,
    update_pairs,
)

__all__ = ["negative_sampling"]

_TRIES = 64


@kernel_using(drawing)
def _another(true_row: Any, drawn: Any, count: Any, next_one: Any, state: Any, draws: Any, places: Any) -> Any:
    """Return an output row that is not the centre's, of those drawn from `next_one` on, and where to look next."""
    for _ in range(_TRIES):
        row = drawn[next_one]
        next_one = next_one + 1 if next_one + 1 < count else 0
        if row != true_row:
            return row, next_one
    row, tries = true_row, 0
    while row == true_row:  # nearly all of the text is one word: take one of the first two groups
        word = member_of(int64(tries & 1), draws, start_of(state, tries))
        row = row_of(word, places)
        tries += 1
    return row, next_one


@kernel_using(lanes, updates)
def _set_apart(targets: Any, n_targets: Any, twice: Any, spare: Any) -> Any:
    """Put a copy in the place of each negative that was drawn before in this window: one row cannot stand twice."""
    for k in range(1, n_targets):
        if (twice >> k) & 1:
            targets[n_targets + k] = targets[k]
            targets[k] = spare[k].ctypes.data
            copy_row(targets[n_targets + k], targets[k], spare.shape[1] // 16)
            copy_row(targets[k], spare[n_targets + k].ctypes.data, spare.shape[1] // 16)


@kernel_using(lanes, updates)
def _put_together(targets: Any, n_targets: Any, twice: Any, spare: Any) -> Any:
    """Move the rows of such negatives by what their copies have moved."""
    for k in range(1, n_targets):
        if (twice >> k) & 1:
            before = spare[n_targets + k].ctypes.data
            add_movement(targets[n_targets + k], targets[k], before, float32(1), spare.shape[1] // 16)


@cache
def negative_sampling(cbow: bool, negative: int, chunks: int) -> Any:
    """Return the kernel that takes rounds on, for a model, a number of negatives, and rows of 16 · `chunks` numbers."""
    row_bytes = 64 * chunks
    n_targets = negative + 1
    blocks = -(-n_targets // TARGETS_AT_ONCE)
    first_block = n_targets - (blocks - 1) * TARGETS_AT_ONCE

    @kernel_using(drawing, lanes, meeting, parts, updates)
    def run_rounds(
        text: Any,
        inputs: Any,
        outputs: Any,
        noise: Any,
        desks: Any,
        plan: Any,
        window: Any,
        first_round: Any,
        last_round: Any,
        thread: Any,
        threads: Any,
        gathering: Any,
    ) -> Any:
        """Take some rounds on as one of several threads, which all call this; each has every `threads`th desk."""
        dynamic = plan.dynamic[0]
        n_desks, copying, group = len(desks.counts), plan.copying[0], len(noise.accept) // len(noise.entries)
        parties = n_desks if copying else 1
        model_rows, weights, entries, accept = outputs.ctypes.data, plan.weights, noise.entries, noise.accept
        for number in range(first_round, last_round):
            key, rate = plan.keys[number], plan.rates[number]
            for desk in range(thread, n_desks, threads):
                part = number * n_desks + desk
                lay_out(text, inputs, outputs, desks, desk, part, window, plan.seed[0], copying)
            if copying:
                meet(gathering, threads)
            for desk in range(thread, n_desks, threads):
                words, slots, spare = desks.words[desk], desks.slots[desk], desks.spare[desk]
                drawn, loss = desks.drawn[desk], desks.loss[desk].ctypes.data
                contexts, targets = desks.contexts[desk], desks.targets[desk]
                errors = desks.errors[desk].ctypes.data
                input_rows, output_rows = inputs.ctypes.data, outputs.ctypes.data
                if copying:
                    input_rows, output_rows = desks.inputs[desk].ctypes.data, desks.outputs[desk].ctypes.data
                context_list, target_list = contexts.ctypes.data, targets.ctypes.data
                to_output = output_rows - input_rows
                state = desks.state[desk, 0]
                predictions, begin = 0, int64(0)
                kept = desks.pieces[desk, desks.counts[desk, 0] - 1, 2] if desks.counts[desk, 0] else 0
                seed, state = state, step_of(state)
                draws = Draws(entries, accept, group, parties, key, desk if copying else 0)
                places = Places(slots, output_rows if copying else 0, model_rows, row_bytes)
                for at in range(kept):
                    contexts[at] = input_rows + int64(words[at]) * row_bytes
                n_drawn = (kept + 1) * negative
                draw_rows(drawn, n_drawn, seed, draws, places)
                at_row, next_one = 0, 0
                for piece in range(desks.counts[desk, 0]):
                    end = desks.pieces[desk, piece, 2]
                    for centre in range(desks.pieces[desk, piece, 0], desks.pieces[desk, piece, 1]):
                        state = step_of(state)
                        reach = int64(window)
                        if dynamic:
                            reach -= int64(((state >> uint64(48)) * uint64(window)) >> uint64(16))
                        first, last = max(begin, centre - reach), min(end, centre + reach + 1)
                        # The window is a piece of the list: the first context takes the place of the centre meanwhile.
                        centre_row, contexts[centre] = contexts[centre], contexts[first]
                        rows, n = context_list + 8 * (first + 1), last - first - 1
                        if centre + window + 1 < end:
                            prefetch_row(contexts[centre + window + 1], chunks)
                        if centre + 1 < end:
                            prefetch_row(contexts[centre + 1] + to_output, chunks)
                        targets[0] = centre_row + to_output
                        for k in range(1, n_targets):
                            row = drawn[at_row + k - 1]
                            prefetch_row(drawn[at_row + negative + k - 1], chunks)
                            if row == targets[0]:
                                row, next_one = _another(row, drawn, n_drawn, next_one, state, draws, places)
                            targets[k] = row
                        twice = repeated(n_targets, target_list)
                        at_row += negative
                        if twice:
                            _set_apart(targets, n_targets, twice, spare)
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
                        if twice:
                            _put_together(targets, n_targets, twice, spare)
                        contexts[centre] = centre_row
                        predictions += 1 if cbow else n
                    begin = end
                desks.counts[desk, 2] += predictions
            if copying:
                meet(gathering, threads)
                merge(inputs, outputs, desks, thread, threads, plan.settling[number])
                meet(gathering, threads)

    return run_rounds

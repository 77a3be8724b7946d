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

from numba import float32, int64, uint32, uint64

from pellucid.kernels import kernel, kernel_using
from pellucid.word2vec import lanes, meeting, parts, updates
from pellucid.word2vec.meeting import meet
from pellucid.word2vec.parts import lay_out, merge, step_of
from pellucid.word2vec.updates import (
    TARGETS_AT_ONCE,
    add_movement,
    copy_row,
    prefetch_row,
    update_mean,
    update_pairs,
)

__all__ = ["negative_sampling"]

_LOW = 0xFFFFFFFF
_TRIES = 64


@kernel
def _member(number: Any, group: Any, key: Any, desk: Any, state: Any, copying: Any) -> Any:
    """Return a word of a group: a random one, or with copying the one that is this desk's in this round."""
    if copying:
        bits = ((uint64(number) * uint64(0x9E3779B1)) ^ key) * uint64(0x2545F4914F6CDD1D)
        member = int64(((bits >> uint64(32)) * uint64(group)) >> uint64(32)) + desk
        member -= group if member >= group else 0
    else:
        member = int64(((state >> uint64(32)) * uint64(group)) >> uint64(32))
    return number * group + member


@kernel
def _draw(state: Any, noise: Any, group: Any, key: Any, desk: Any, copying: Any) -> Any:
    """Return a random word and the next state."""
    groups = len(noise.threshold)
    for _ in range(_TRIES):
        state = step_of(state)
        bits = state * uint64(0x2545F4914F6CDD1D)
        product = (bits >> uint64(32)) * uint64(groups)
        number = int64(product >> uint64(32))
        other = int64(noise.alias[number])
        number = number if uint32(bits & uint64(_LOW)) < noise.threshold[number] else other
        word = _member(number, group, key, desk, state, copying)
        chance = uint32(product & uint64(_LOW))
        if chance < noise.sure[number] or chance < noise.accept[word]:
            return state, word
    # Hardly ever: words of one group whose counts are worlds apart. All groups but the last are full.
    return state, _member(int64(state % uint64(max(1, groups - 1))), group, key, desk, state, copying)


@kernel
def _row_of(word: Any, slots: Any, output_rows: Any, model_rows: Any, row_bytes: Any, copying: Any) -> Any:
    """Return the address of a word's output row: the desk's copy if there is one, else the model's."""
    if copying and slots[word] >= 0:
        return output_rows + int64(slots[word]) * row_bytes
    return model_rows + word * row_bytes


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

    @kernel_using(lanes, meeting, parts, updates)
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
        n_desks, copying, group = len(desks.counts), plan.copying[0], len(noise.accept) // len(noise.threshold)
        model_rows, weights = outputs.ctypes.data, plan.weights
        for number in range(first_round, last_round):
            key, rate = plan.keys[number], plan.rates[number]
            for desk in range(thread, n_desks, threads):
                part = number * n_desks + desk
                lay_out(text, inputs, outputs, desks, desk, part, window, plan.seed[0], copying)
            if copying:
                meet(gathering, threads)
            for desk in range(thread, n_desks, threads):
                words, slots, spare = desks.words[desk], desks.slots[desk], desks.spare[desk]
                coming, loss = desks.coming[desk], desks.loss[desk].ctypes.data
                contexts, targets = desks.contexts[desk], desks.targets[desk]
                errors = desks.errors[desk].ctypes.data
                input_rows, output_rows = inputs.ctypes.data, outputs.ctypes.data
                if copying:
                    input_rows, output_rows = desks.inputs[desk].ctypes.data, desks.outputs[desk].ctypes.data
                state = desks.state[desk, 0]
                predictions, begin = 0, int64(0)
                for k in range(negative):
                    state, word = _draw(state, noise, group, key, desk, copying)
                    coming[k] = _row_of(word, slots, output_rows, model_rows, row_bytes, copying)
                for piece in range(desks.counts[desk, 0]):
                    end = desks.pieces[desk, piece, 2]
                    for centre in range(desks.pieces[desk, piece, 0], desks.pieces[desk, piece, 1]):
                        state = step_of(state)
                        reach = int64(window)
                        if plan.dynamic[0]:
                            reach -= int64(((state >> uint64(48)) * uint64(window)) >> uint64(16))
                        count = 0
                        for at in range(max(begin, centre - reach), min(end, centre + reach + 1)):
                            contexts[count] = input_rows + int64(words[at]) * row_bytes
                            count += 1 if at != centre else 0
                        if centre + window + 1 < end:
                            prefetch_row(input_rows + int64(words[centre + window + 1]) * row_bytes, chunks)
                        if centre + 1 < end:
                            prefetch_row(output_rows + int64(words[centre + 1]) * row_bytes, chunks)
                        targets[0] = output_rows + int64(words[centre]) * row_bytes
                        twice = 0
                        for k in range(1, n_targets):
                            row = coming[k - 1]
                            tries = 0
                            while row == targets[0]:
                                state, word = _draw(state, noise, group, key, desk, copying)
                                if tries >= _TRIES:  # nearly all text is one word: take one of the first two groups
                                    word = _member(int64(tries & 1), group, key, desk, state, copying)
                                row = _row_of(word, slots, output_rows, model_rows, row_bytes, copying)
                                tries += 1
                            for earlier in range(1, k):
                                twice |= int64(row == targets[earlier]) << k
                            targets[k] = row
                            state, word = _draw(state, noise, group, key, desk, copying)
                            coming[k - 1] = _row_of(word, slots, output_rows, model_rows, row_bytes, copying)
                            prefetch_row(coming[k - 1], chunks)
                        if twice:
                            _set_apart(targets, n_targets, twice, spare)
                        n, rows, others = int64(count), contexts.ctypes.data, targets.ctypes.data
                        weight, back = weights[0] / count + weights[1], weights[2] / count + weights[3]
                        if cbow:
                            update_mean(first_block, 1, chunks, rows, n, others, rate, weight, back, loss)
                            for block in range(blocks - 1):
                                others = targets[first_block + block * TARGETS_AT_ONCE :].ctypes.data
                                update_mean(TARGETS_AT_ONCE, 0, chunks, rows, n, others, rate, weight, back, loss)
                        else:
                            update_pairs(first_block, 1, chunks, rows, n, others, rate, errors, loss)
                            for block in range(blocks - 1):
                                others = targets[first_block + block * TARGETS_AT_ONCE :].ctypes.data
                                update_pairs(TARGETS_AT_ONCE, 0, chunks, rows, n, others, rate, errors, loss)
                        if twice:
                            _put_together(targets, n_targets, twice, spare)
                        predictions += 1 if cbow else count
                    begin = end
                desks.counts[desk, 2] += predictions
            if copying:
                meet(gathering, threads)
                merge(inputs, outputs, desks, thread, threads, plan.settling[number])
                meet(gathering, threads)

    return run_rounds

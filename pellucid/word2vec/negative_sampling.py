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
from typing import Any, NamedTuple

from numba import float32, int64, uint32, uint64

from pellucid.kernels import kernel, kernel_using
from pellucid.word2vec import lanes, meeting, parts, updates
from pellucid.word2vec.meeting import meet
from pellucid.word2vec.parts import lay_out, merge, start_of, step_of
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


class _Draws(NamedTuple):
    """What words are drawn by: the noise table, and which of its words are this desk's in this round."""

    entries: Any
    accept: Any
    group: Any
    parties: Any
    key: Any
    desk: Any


class _Places(NamedTuple):
    """Where output rows are: copies of them (address 0 for none) and those of the model."""

    slots: Any
    copies: Any
    model: Any
    row_bytes: Any


@kernel
def _member(number: Any, group: Any, parties: Any, key: Any, desk: Any, bits: Any) -> Any:
    """Return a random word of a group, of those that are this desk's in this round.

    A group is cut into sets of as many words as there are parties, and of each set every desk has another word.
    """
    chosen = (((bits * uint64(0xD6E8FEB86659FD93)) >> uint64(32)) * uint64(group // parties)) >> uint64(32)
    chosen += uint64(number) * uint64(group // parties)
    if parties == 1:
        return int64(chosen)
    mixed = ((chosen * uint64(0x9E3779B1)) ^ key) * uint64(0x2545F4914F6CDD1D)
    own = int64(((mixed >> uint64(32)) * uint64(parties)) >> uint64(32)) + desk
    own -= parties if own >= parties else 0
    return int64(chosen) * parties + own


@kernel
def _drawn(bits: Any, entries: Any, accept: Any, group: Any, parties: Any, key: Any, desk: Any) -> Any:
    """Return the word that 64 random bits stand for, −1 if they stand for none."""
    product = (bits >> uint64(32)) * uint64(len(entries))
    number, chance = int64(product >> uint64(32)), uint32(product & uint64(_LOW))
    # All four are read before any is chosen: which of them it is cannot be foreseen, and a branch would be taken wrong.
    threshold, alias, sure, other = entries[number, 0], entries[number, 1], entries[number, 2], entries[number, 3]
    own = uint32(bits & uint64(_LOW)) < threshold
    sure = sure if own else other
    number = number if own else int64(alias)
    word = _member(number, group, parties, key, desk, bits)
    return word if chance < sure or chance < accept[word] else int64(-1)


@kernel
def _draw(state: Any, draws: Any) -> Any:
    """Return a random word and the next state."""
    group, parties, key, desk = draws.group, draws.parties, draws.key, draws.desk
    for _ in range(_TRIES):
        state = step_of(state)
        bits = state * uint64(0x2545F4914F6CDD1D)
        word = _drawn(bits, draws.entries, draws.accept, group, parties, key, desk)
        if word >= 0:
            return state, word
    # Hardly ever: words of one group whose counts are worlds apart. All groups but the last are full.
    groups = max(1, len(draws.entries) - 1)
    return state, _member(int64(state % uint64(groups)), group, parties, key, desk, state)


@kernel
def _draw_rows(rows: Any, count: Any, seed: Any, draws: Any, places: Any) -> Any:
    """Draw many words in one go, which is faster than one by one, and note the addresses of their output rows."""
    # Numba counts who holds an array whenever it is taken out of a tuple: not in the loop.
    entries, accept, slots = draws.entries, draws.accept, places.slots
    group, parties, key, desk = draws.group, draws.parties, draws.key, draws.desk
    copies, model, row_bytes = places.copies, places.model, places.row_bytes
    for i in range(count):
        bits = start_of(seed, i)
        word = _drawn(bits, entries, accept, group, parties, key, desk)
        if word < 0:
            _, word = _draw(bits, draws)
        rows[i] = _row_of(word, slots, copies, model, row_bytes)


@kernel
def _row_of(word: Any, slots: Any, copies: Any, model: Any, row_bytes: Any) -> Any:
    """Return the address of a word's output row: the desk's copy if there is one, else the model's."""
    if copies and slots[word] >= 0:
        return copies + int64(slots[word]) * row_bytes
    return model + word * row_bytes


@kernel
def _draw_other(true_row: Any, state: Any, draws: Any, places: Any) -> Any:
    """Return the output row of a random word that is not the centre, whose row is given, and the next state."""
    tries, row = 0, true_row
    while row == true_row:
        state, word = _draw(state, draws)
        if tries >= _TRIES:  # nearly all of the text is one word: take one of the first two groups
            word = _member(int64(tries & 1), draws.group, draws.parties, draws.key, draws.desk, state)
        row = _row_of(word, places.slots, places.copies, places.model, places.row_bytes)
        tries += 1
    return state, row


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
                state = desks.state[desk, 0]
                predictions, begin = 0, int64(0)
                kept = desks.pieces[desk, desks.counts[desk, 0] - 1, 2] if desks.counts[desk, 0] else 0
                seed, state = state, step_of(state)
                draws = _Draws(entries, accept, group, parties, key, desk)
                places = _Places(slots, output_rows if copying else 0, model_rows, row_bytes)
                _draw_rows(drawn, (kept + 1) * negative, seed, draws, places)
                at_row = 0
                for piece in range(desks.counts[desk, 0]):
                    end = desks.pieces[desk, piece, 2]
                    for centre in range(desks.pieces[desk, piece, 0], desks.pieces[desk, piece, 1]):
                        state = step_of(state)
                        reach = int64(window)
                        if dynamic:
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
                            row = drawn[at_row + k - 1]
                            prefetch_row(drawn[at_row + negative + k - 1], chunks)
                            if row == targets[0]:
                                state, row = _draw_other(row, state, draws, places)
                            targets[k] = row
                        for k in range(2, n_targets):
                            for earlier in range(1, k):
                                twice |= int64(targets[k] == targets[earlier]) << k
                        at_row += negative
                        if twice:
                            _set_apart(targets, n_targets, twice, spare)
                        n, rows, others = int64(count), context_list, target_list
                        weight, back = weights[0] / count + weights[1], weights[2] / count + weights[3]
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
                        predictions += 1 if cbow else count
                    begin = end
                desks.counts[desk, 2] += predictions
            if copying:
                meet(gathering, threads)
                merge(inputs, outputs, desks, thread, threads, plan.settling[number])
                meet(gathering, threads)

    return run_rounds

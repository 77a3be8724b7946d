"""The text in parts, and how parts trained at the same time add up to one model, whatever the number of threads.

An epoch is cut into parts of some hundred words; a *round* trains as many as there are desks, side by side. Before
it, every part is laid out: its words are sub-sampled, and the rows of its words are copied to its desk (`lay_out`).
Then each part is trained by itself (`negative_sampling.py`): it changes its own copies, and of the rows of words that
it draws as false targets those that it alone may draw in this round (`noise.py`). So no part sees what another does
meanwhile. At the end of the round the copies are put together, the parts in their order (`merge`). Threads share
these three pieces of work between them, and what comes out does not depend on how many they are: same seed, same
bits.

With `copying` off the rows of the model are changed in place, which is a little faster: one part at a time, that is
plain stochastic gradient descent.

A row that several parts have copied moves by the sum of their movements, but for a frequent word, whose row each of
them may already have moved nearly to where it belongs; the sum would go m times as far. If a row's movement in n
updates is taken to be the fraction 1 − (1−a)ⁿ of its way, the sum is scaled by (1 − (1−a)^Σn) / Σ(1 − (1−a)ⁿ).
"""

import math
from typing import Any, NamedTuple

import numpy
from numba import int32, int64, uint32, uint64
from numpy.typing import NDArray

from pellucid import lanes
from pellucid.kernels import kernel, kernel_using
from pellucid.lanes import new_rows
from pellucid.word2vec import drawing, updates
from pellucid.word2vec.drawing import BATCH, start_of
from pellucid.word2vec.updates import add_movement, copy_row, prefetch_row

__all__ = [
    "Desks",
    "Plan",
    "Text",
    "cut_into_parts",
    "lay_out",
    "merge",
    "new_desks",
    "step_of",
]

_AHEAD = 4  # words whose rows are on their way
_FEW = 32  # occurrences in a part, for which a row's settling is looked up


class Text(NamedTuple):
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


class Desks(NamedTuple):
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
    pieces: NDArray[numpy.int64]
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
    drawn: NDArray[numpy.int64]
    errors: NDArray[numpy.float32]
    spare: NDArray[numpy.float32]
    loss: NDArray[numpy.float32]
    nats: NDArray[numpy.float64]


class Plan(NamedTuple):
    """What an epoch's rounds need to know.

    Attributes:
        seed: uint64 [1], of the epoch.
        keys: uint64 [rounds], what tells the rounds' random choices apart.
        rates: float32 [rounds], learning rates.
        settling: float32 [rounds], see `parts.merge`.
        dynamic: bool [1], whether a window's reach is drawn.
        cbow: bool [1], whether the model is CBOW.
        full: bool [1], whether the softmax is the full one and not a path in a tree.
        copying: bool [1], whether a part's rows are copies on its desk, or those of the model.
        weights: float32 [4], of CBOW: h = (w₀ / n + w₁) · Σ inputs, and inputs move by w₂ / n + w₃ times h's gradient.
    """

    seed: NDArray[numpy.uint64]
    keys: NDArray[numpy.uint64]
    rates: NDArray[numpy.float32]
    settling: NDArray[numpy.float32]
    dynamic: NDArray[numpy.bool_]
    cbow: NDArray[numpy.bool_]
    full: NDArray[numpy.bool_]
    copying: NDArray[numpy.bool_]
    weights: NDArray[numpy.float32]


def new_desks(
    number: int, longest: int, vocab_size: int, d: int, *, window: int, negative: int, copying: bool
) -> Desks:
    """Return desks for parts of at most `longest` words, margins included."""
    copies = min(longest, vocab_size) if copying else 0
    loss = new_rows(number, 32)
    loss[:, :16] = 1
    return Desks(
        words=new_rows(number, longest, dtype=numpy.int32),
        pieces=numpy.zeros((number, longest // 2 + 1, 3), numpy.int64),
        counts=new_rows(number, 4, dtype=numpy.int64),
        state=new_rows(number, 1, dtype=numpy.uint64),
        slots=numpy.full((number, vocab_size if copying else 1), -1, numpy.int32),
        owners=new_rows(number, copies, dtype=numpy.int32),
        occurrences=new_rows(number, copies, dtype=numpy.int32),
        inputs=new_rows(number, copies, d),
        outputs=new_rows(number, copies, d),
        outputs_before=new_rows(number, copies, d),
        contexts=new_rows(number, longest, dtype=numpy.int64),
        targets=new_rows(number, 2 * (negative + 1), dtype=numpy.int64),
        drawn=new_rows(number, (longest + 2) * negative + BATCH, dtype=numpy.int64),
        errors=new_rows(number, (2 * window + 1) * 8),
        spare=new_rows(number, 2 * (negative + 1), d),
        loss=loss,
        nats=new_rows(number, 1, dtype=numpy.float64),
    )


def cut_into_parts(ends: NDArray[numpy.int64], part_words: int) -> NDArray[numpy.int64]:
    """Return where parts begin and end: at the ends of sentences, every `part_words` words or up to twice as many.

    Only a sentence that goes on for longer is cut, and at a cut windows see the words beyond it.
    """
    total = int(ends[-1]) if len(ends) else 0
    wanted = numpy.arange(part_words, total, part_words)
    following = ends[numpy.searchsorted(ends, wanted)]
    inner = numpy.where(following - wanted <= part_words, following, wanted)
    return numpy.unique(numpy.concatenate([[0], inner, [total]])).astype(numpy.int64)


@kernel
def step_of(state: Any) -> Any:
    """Return the next state of a random generator (xorshift64)."""
    state ^= state << uint64(13)
    state ^= state >> uint64(7)
    state ^= state << uint64(17)
    return state


@kernel_using(drawing, lanes, updates)
def lay_out(
    text: Any, inputs: Any, outputs: Any, desks: Any, desk: Any, part: Any, window: Any, seed: Any, copying: Any
) -> Any:
    """Put a part's words on a desk, sub-sampled, and copies of their rows; nothing if there is no such part.

    Each word is kept with the probability that `text.keep` gives. A cut sentence keeps its margins: up to `window`
    words of text beyond each cut are there to be contexts, but are no centres.
    """
    words, slots, owners = desks.words[desk], desks.slots[desk], desks.owners[desk]
    counts, pieces, occurrences = desks.counts[desk], desks.pieces[desk], desks.occurrences[desk]
    counts[0] = counts[1] = 0
    if part + 1 >= len(text.borders):
        return
    chunks, row_bytes = inputs.shape[1] // 16, 4 * inputs.shape[1]
    input_rows, output_rows = inputs.ctypes.data, outputs.ctypes.data
    input_copies, output_copies = desks.inputs[desk].ctypes.data, desks.outputs[desk].ctypes.data
    before = desks.outputs_before[desk].ctypes.data
    begin, end = text.borders[part], text.borders[part + 1]
    counts[3] += end - begin
    state = start_of(seed, part)
    sentence = numpy.searchsorted(text.ends, begin, side="right")
    kept = 0
    while sentence < len(text.ends):
        sentence_begin = text.ends[sentence - 1] if sentence > 0 else 0
        if sentence_begin >= end:
            break
        sentence_end = text.ends[sentence]
        first, last = max(sentence_begin, begin), min(sentence_end, end)
        piece, first_centre, last_centre = kept, kept, kept
        for at in range(max(sentence_begin, first - window), min(sentence_end, last + window)):
            if at == first:
                first_centre = kept
            word = text.ids[at]
            state = step_of(state)
            keep = uint32(state >> uint64(32)) <= text.keep[word]
            if not copying:
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
        if kept - piece < 2:
            kept = piece
        else:
            pieces[counts[0], 0], pieces[counts[0], 1], pieces[counts[0], 2] = first_centre, last_centre, kept
            counts[0] += 1
        sentence += 1
    desks.state[desk, 0] = state


@kernel_using(lanes, updates)
def merge(inputs: Any, outputs: Any, desks: Any, first: Any, step: Any, settling: Any) -> Any:
    """Move the model's rows by what the desks' copies of them have moved; of all words those with word % step = first.

    Args:
        settling: a, how far of its way a row goes in one occurrence of its word.
    """
    n_desks = len(desks.slots)
    chunks, row_bytes = inputs.shape[1] // 16, 4 * inputs.shape[1]
    input_rows, output_rows = inputs.ctypes.data, outputs.ctypes.data
    holders, places = numpy.empty(n_desks, numpy.int64), numpy.empty(n_desks, numpy.int64)
    settled = 1 - numpy.exp(-settling * numpy.arange(_FEW))
    spare = desks.spare[first].ctypes.data
    for desk in range(n_desks):
        for slot in range(desks.counts[desk, 1]):
            if slot + _AHEAD < desks.counts[desk, 1]:
                coming = int64(desks.owners[desk, slot + _AHEAD])
                if step == 1 or coming % step == first:
                    prefetch_row(input_rows + coming * row_bytes, chunks)
                    prefetch_row(output_rows + coming * row_bytes, chunks)
            word = int64(desks.owners[desk, slot])
            own = step == 1 or word % step == first
            if not own or desks.slots[desk, word] < 0:  # another thread's, or done at an earlier desk
                continue
            found, together, apart = 0, int64(0), 0.0
            for other in range(desk, n_desks):
                place = desks.slots[other, word]
                if place >= 0:
                    desks.slots[other, word] = -1
                    holders[found], places[found] = other, place
                    found += 1
                    occurrences = int64(desks.occurrences[other, place])
                    together += occurrences
                    apart += settled[occurrences] if occurrences < _FEW else 1 - math.exp(-settling * occurrences)
            scale = numpy.float32(1)
            if found > 1 and apart > 0:
                after_all = settled[together] if together < _FEW else 1 - math.exp(-settling * together)
                scale = numpy.float32(after_all / apart)
            input_row, output_row = input_rows + word * row_bytes, output_rows + word * row_bytes
            copy_row(input_row, spare, chunks)
            for at in range(found):
                place = places[at] * row_bytes
                add_movement(input_row, desks.inputs[holders[at]].ctypes.data + place, spare, scale, chunks)
                after = desks.outputs[holders[at]].ctypes.data + place
                before = desks.outputs_before[holders[at]].ctypes.data + place
                add_movement(output_row, after, before, scale, chunks)

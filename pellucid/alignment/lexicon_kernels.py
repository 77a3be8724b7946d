"""The inner loops of a lexicon: which source word generated each target word.

They take ids, and arrays to fill. Ids are checked against the vocabularies; entries and lengths are checked by
`Lexicon` before.
"""

from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from pellucid.kernels.compilation import kernel

__all__ = ["LexiconArrays", "best_sources", "posteriors"]

Array = NDArray[Any]

UNSEEN = 1e-9  # probability of words without an entry; less than any entry, so that known words win


class LexiconArrays(NamedTuple):
    """The arrays of a lexicon, with the fields of `Lexicon`."""

    row_starts: Array
    columns: Array
    probabilities: Array
    target_vocab_size: int
    diagonal_tension: float
    null_probability: float


@kernel
def _joint(table: LexiconArrays, source: Array, target: Array, joint: Array, null: Array) -> None:
    """Fill joint[j, i] = p(i, t_j | s) and null[j] = p(NULL, t_j | s) of one sentence pair."""
    n_source, n_target = len(source), len(target)
    found, exp_positions, exp_negative_positions, positions, totals = _allocate(n_target, table.diagonal_tension)
    for i in range(n_source):
        _lookup(table, source[i], target, positions, found)
        exp_positive = numpy.float32(numpy.exp(table.diagonal_tension * (i + 0.5) / n_source))
        exp_negative = 1 / exp_positive
        for j in range(n_target):
            closeness = min(
                exp_positive * exp_negative_positions[j], exp_positions[j] * exp_negative
            )  # exp(−λ|x − y|) is the smaller of e^(x−y) and e^(y−x)
            totals[j] += closeness
            joint[j, i] = closeness * found[j]
    _lookup(table, len(table.row_starts) - 2, target, positions, found)
    for j in range(n_target):
        null[j] = table.null_probability * found[j]
        scale = (1 - table.null_probability) / totals[j]
        for i in range(n_source):
            joint[j, i] *= scale


@kernel
def _lookup(table: LexiconArrays, row: int, target: Array, positions: Array, found: Array) -> None:
    """Fill found [target] with p(target id | row), by binary search for all of them at once.

    The searches advance together, because the steps of one search depend on each other and those of many do not.
    """
    columns, probabilities = table.columns, table.probabilities
    size = table.row_starts[row + 1] - table.row_starts[row]
    positions[:] = table.row_starts[row]
    while size > 1:  # the entry, if it exists, is among `size` from its position on
        half = size >> 1
        for j in range(len(target)):
            positions[j] += half if columns[positions[j] + half] <= target[j] else 0
        size -= half
    for j in range(len(target)):
        hit = size == 1 and columns[positions[j]] == target[j]
        found[j] = max(probabilities[positions[j]], numpy.float32(UNSEEN)) if hit else numpy.float32(UNSEEN)


@kernel
def _are_valid(ids: Array, vocab_size: int) -> bool:
    known = True
    for k in range(len(ids)):
        known &= 0 <= ids[k] < vocab_size
    return known


@kernel
def posteriors(table: LexiconArrays, source_ids: Array, target_ids: Array, lengths: Array, out: Array) -> bool:
    """Fill out [batch, target, source]; return whether all ids are valid."""
    null = numpy.empty(out.shape[1], numpy.float32)
    for b in range(len(out)):
        source, target = source_ids[b, : lengths[0, b]], target_ids[b, : lengths[1, b]]
        if not (_are_valid(source, len(table.row_starts) - 2) and _are_valid(target, table.target_vocab_size)):
            return False
        joint = out[b]
        _joint(table, source, target, joint, null)
        for j in range(len(target)):
            total = null[j]
            for i in range(len(source)):
                total += joint[j, i]
            for i in range(len(source)):
                joint[j, i] /= total
    return True


@kernel
def best_sources(
    table: LexiconArrays, source_starts: Array, source_ids: Array, target_starts: Array, target_ids: Array, best: Array
) -> bool:
    """Fill best [target tokens] with source positions in their sentences, −1 for NULL; return whether ids are valid."""
    if not (_are_valid(source_ids, len(table.row_starts) - 2) and _are_valid(target_ids, table.target_vocab_size)):
        return False
    for pair in range(len(source_starts) - 1):
        source = source_ids[source_starts[pair] : source_starts[pair + 1]]
        target = target_ids[target_starts[pair] : target_starts[pair + 1]]
        chosen = best[target_starts[pair] : target_starts[pair + 1]]
        found, exp_positions, exp_negative_positions, positions, totals = _allocate(len(target), table.diagonal_tension)
        highest = numpy.zeros(len(target), numpy.float32)
        chosen[:] = -1
        for i in range(len(source)):
            _lookup(table, source[i], target, positions, found)
            exp_positive = numpy.float32(numpy.exp(table.diagonal_tension * (i + 0.5) / len(source)))
            exp_negative = 1 / exp_positive
            for j in range(len(target)):
                closeness = min(exp_positive * exp_negative_positions[j], exp_positions[j] * exp_negative)
                totals[j] += closeness
                if closeness * found[j] > highest[j]:
                    chosen[j], highest[j] = i, closeness * found[j]
        _lookup(table, len(table.row_starts) - 2, target, positions, found)
        for j in range(len(target)):
            if table.null_probability * found[j] * totals[j] >= (1 - table.null_probability) * highest[j]:
                chosen[j] = -1
    return True


@kernel
def _allocate(n_target: int, tension: float) -> tuple[Array, Array, Array, Array, Array]:
    """Allocate arrays [target]: for looked-up probabilities, e^y, e^−y, positions, and zeros for sums."""
    exp_positions = numpy.exp(tension * (numpy.arange(n_target) + 0.5) / max(n_target, 1)).astype(numpy.float32)
    found, positions = numpy.empty(n_target, numpy.float32), numpy.empty(n_target, numpy.int64)
    return found, exp_positions, 1 / exp_positions, positions, numpy.zeros(n_target, numpy.float32)

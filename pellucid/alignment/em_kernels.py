"""The inner loops of the aligner: expectation maximisation over sparse rows, one source id at a time.

The loops do not go sentence by sentence. Everything that a row of p(t | s) needs, the occurrences of s with the target
sentences opposite them, is visited while the row is in the processor's cache, and the row is re-estimated and used for
the next iteration at once: no table of cells and no counts except those of one row are ever held in memory.
"""

from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from pellucid.kernels.compilation import kernel

__all__ = ["ExpectationMaximisation", "GroupedCorpus", "group_by_source"]

Array = NDArray[Any]

SMALLEST = 1e-12  # lower bound for words that occur together; keeps denormals out of the sums
LOG_SMALLEST = -27.631021115928547
LEAST_COUNT = 0.01  # an entry that explains less than a hundredth of one target token in the whole text is pruned


class GroupedCorpus(NamedTuple):
    """Sentence pairs arranged for the kernels: target text in order, source tokens grouped by id.

    Attributes:
        target_starts: int64 [pairs + 1], where each target sentence starts in `target_ids`.
        target_ids: uint32 [target tokens].
        source_lengths: int32 [pairs].
        group_starts: int64 [source vocabulary + 1], where the occurrences of each source id start.
        first: int32 [source tokens], where the target sentence opposite an occurrence starts in `target_ids`;
            kept next to `length` and `position`, although all follow from the pair: one memory access, not three.
        length: int32 [source tokens], the number of its tokens.
        position: int32 [source tokens], the index of the occurrence's own e^x in `exp_positive`.
        exp_positive: float32, e^(λ(k+½)/n) for k < n, at n(n−1)/2 + k for each length n.
        exp_negative: float32, its inverse.
    """

    target_starts: NDArray[numpy.int64]
    target_ids: NDArray[numpy.uint32]
    source_lengths: NDArray[numpy.int32]
    group_starts: NDArray[numpy.int64]
    first: NDArray[numpy.int32]
    length: NDArray[numpy.int32]
    position: NDArray[numpy.int32]
    exp_positive: NDArray[numpy.float32]
    exp_negative: NDArray[numpy.float32]


def group_by_source(
    source_ids: NDArray[numpy.uint32],
    target_ids: NDArray[numpy.uint32],
    source_lengths: NDArray[numpy.int64],
    target_lengths: NDArray[numpy.int64],
    source_vocab_size: int,
    tension: float,
) -> GroupedCorpus:
    """Group the source tokens by id, and tabulate the exponentials of the prior.

    Args:
        source_ids, target_ids: all sentences concatenated, each of at most `MAX_TOKENS`.
        source_lengths, target_lengths: [pairs].
        tension: λ of the prior.
    """
    longest = int(max(source_lengths.max(initial=0), target_lengths.max(initial=0)))
    size = numpy.repeat(numpy.arange(1, longest + 1), numpy.arange(1, longest + 1))
    position = numpy.arange(len(size)) - size * (size - 1) // 2
    exp_positive = numpy.exp(tension * (position + 0.5) / size)
    group_starts = numpy.zeros(source_vocab_size + 1, numpy.int64)
    numpy.cumsum(numpy.bincount(source_ids, minlength=source_vocab_size), out=group_starts[1:])
    corpus = GroupedCorpus(
        target_starts=numpy.concatenate([numpy.zeros(1, numpy.int64), numpy.cumsum(target_lengths)]),
        target_ids=target_ids,
        source_lengths=source_lengths.astype(numpy.int32),
        group_starts=group_starts,
        first=numpy.empty(len(source_ids), numpy.int32),
        length=numpy.empty(len(source_ids), numpy.int32),
        position=numpy.empty(len(source_ids), numpy.int32),
        exp_positive=exp_positive.astype(numpy.float32),
        exp_negative=(1 / exp_positive).astype(numpy.float32),
    )
    _group(source_ids, group_starts[:-1].copy(), corpus)
    return corpus


class SparseRows(NamedTuple):
    """p(t | s) as sparse rows.

    Attributes:
        starts: int64 [source vocabulary + 1], where the entries of each source id start.
        columns: uint32 [entries], target ids, ascending in a row.
        probabilities: float32 [entries].
    """

    starts: NDArray[numpy.int64]
    columns: NDArray[numpy.uint32]
    probabilities: NDArray[numpy.float32]


class TargetTokens(NamedTuple):
    """Three numbers per target token, float32 [target tokens].

    Attributes:
        scale: (1 − p₀) / Z_j.
        weight: (1 − p₀) / Z_j / p(t_j | s).
        likelihood: Σ_i exp(−λ|…|) · p(t_j | s_i), summed up in an iteration.
    """

    scale: NDArray[numpy.float32]
    weight: NDArray[numpy.float32]
    likelihood: NDArray[numpy.float32]


class ExpectationMaximisation:
    """The state of expectation maximisation: p(t | s) as sparse rows, p(t | NULL), three numbers per target token."""

    def __init__(
        self, corpus: GroupedCorpus, target_vocab_size: int, null_probability: float, concentration: float
    ) -> None:
        self.corpus = corpus
        self.concentration = concentration
        self.null_probability = null_probability
        stamps = numpy.full(target_vocab_size, -1, numpy.int64)
        starts = _count_entries(corpus, stamps)
        columns = numpy.empty(starts[-1], numpy.uint32)
        stamps[:] = -1
        _fill_columns(corpus, starts, stamps, columns)
        self.rows = SparseRows(starts, columns, numpy.full(len(columns), 1 / target_vocab_size, numpy.float32))
        self.row_counts = numpy.zeros(len(starts) - 1)  # target tokens each row explains
        scale = numpy.empty(len(corpus.target_ids), numpy.float32)
        _scale_priors(corpus, 1 - null_probability, scale)
        # Initially p(t_j | s) is 1/V for every token, and NULL explains p₀ of it.
        self.tokens = TargetTokens(scale, scale * numpy.float32(target_vocab_size), numpy.zeros_like(scale))
        self.null_counts = numpy.bincount(corpus.target_ids, minlength=target_vocab_size) * null_probability
        self.null_row = numpy.zeros(target_vocab_size, numpy.float32)

    def iterate(self) -> float:
        """Re-estimate every row; return the mean log-likelihood of a token with the new rows, nats."""
        self.null_row[:] = numpy.maximum(self.null_counts / self.null_counts.sum(), SMALLEST)
        _reestimate(self.corpus, self.rows, self.row_counts, self.tokens, len(self.null_row), self.concentration)
        self.null_counts = numpy.zeros(len(self.null_row))
        total = _finish_iteration(
            self.corpus.target_ids, self.tokens, self.null_row, self.null_probability, self.null_counts
        )
        return float(total) / len(self.corpus.target_ids)

    def pruned(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float32]]:
        """Row starts, columns and probabilities without entries that explain almost nothing; NULL is the last row."""
        starts, columns, probabilities = self.rows
        keep = numpy.empty(len(columns), numpy.bool_)
        _mark_worthwhile(self.rows, self.row_counts, keep)
        null_columns = numpy.flatnonzero(self.null_row > 0)
        ends = numpy.concatenate([numpy.zeros(1, numpy.int64), numpy.cumsum(keep)])[starts]
        return (
            numpy.append(ends, ends[-1] + len(null_columns)),
            numpy.concatenate([columns[keep], null_columns]).astype(numpy.int32),
            numpy.concatenate([probabilities[keep], self.null_row[null_columns]]),
        )


@kernel
def _group(source_ids: Array, next_free: Array, corpus: GroupedCorpus) -> None:
    """Store for each source id, in order, what each of its occurrences needs."""
    token = 0
    for n in range(len(corpus.source_lengths)):
        n_source = corpus.source_lengths[n]
        for i in range(n_source):
            occurrence = next_free[source_ids[token]]
            next_free[source_ids[token]] += 1
            corpus.first[occurrence] = corpus.target_starts[n]
            corpus.length[occurrence] = corpus.target_starts[n + 1] - corpus.target_starts[n]
            corpus.position[occurrence] = n_source * (n_source - 1) // 2 + i
            token += 1


@kernel
def _count_entries(corpus: GroupedCorpus, stamps: Array) -> Array:
    """Find where each row starts: row s has an entry for each target id that occurs opposite s."""
    row_starts = numpy.zeros(len(corpus.group_starts), numpy.int64)
    for s in range(len(row_starts) - 1):
        count = 0
        for occurrence in range(corpus.group_starts[s], corpus.group_starts[s + 1]):
            first = corpus.first[occurrence]
            for t in corpus.target_ids[first : first + corpus.length[occurrence]]:
                if stamps[t] != s:
                    stamps[t] = s
                    count += 1
        row_starts[s + 1] = row_starts[s] + count
    return row_starts


@kernel
def _fill_columns(corpus: GroupedCorpus, row_starts: Array, stamps: Array, columns: Array) -> None:
    """Fill in the target ids of each row, ascending."""
    for s in range(len(row_starts) - 1):
        end = row_starts[s]
        for occurrence in range(corpus.group_starts[s], corpus.group_starts[s + 1]):
            first = corpus.first[occurrence]
            for t in corpus.target_ids[first : first + corpus.length[occurrence]]:
                if stamps[t] != s:
                    stamps[t] = s
                    columns[end] = t
                    end += 1
        row = columns[row_starts[s] : end]
        if 8 * len(row) < len(stamps):
            row.sort()
        else:  # almost every target id: collecting them in order is faster than sorting
            position = 0
            for t in range(len(stamps)):
                if stamps[t] == s:
                    row[position] = t
                    position += 1


@kernel
def _scale_priors(corpus: GroupedCorpus, share: float, scale: Array) -> None:
    """Fill scale [target tokens] with share / Σ_i exp(−λ|x_i − y_j|)."""
    for n in range(len(corpus.source_lengths)):
        first, length = corpus.target_starts[n], corpus.target_starts[n + 1] - corpus.target_starts[n]
        n_source = corpus.source_lengths[n]
        x, y = n_source * (n_source - 1) // 2, length * (length - 1) // 2
        for j in range(length):
            total = numpy.float32(0)
            for i in range(n_source):
                total += min(
                    corpus.exp_positive[x + i] * corpus.exp_negative[y + j],
                    corpus.exp_negative[x + i] * corpus.exp_positive[y + j],
                )
            scale[first + j] = share / total


@kernel
def _reestimate(
    corpus: GroupedCorpus,
    rows: SparseRows,
    row_counts: Array,
    numbers: TargetTokens,
    target_vocab_size: int,
    concentration: float,
) -> None:
    """Re-estimate each row from the shares of its occurrences, and add its new contribution to the likelihoods.

    exp(−λ|x − y|) is the smaller of e^(x−y) and e^(y−x): two products of table entries, no exp in the loops.
    """
    expected = numpy.zeros(target_vocab_size)  # of one row; float64, since a count may reach millions
    current = numpy.empty(target_vocab_size, numpy.float32)
    for s in range(len(rows.starts) - 1):
        occurrences = range(corpus.group_starts[s], corpus.group_starts[s + 1])
        for occurrence in occurrences:
            tokens, exp_positive, exp_negative, exps_positive, exps_negative = _opposite_sentence(corpus, occurrence)
            ids, weights = corpus.target_ids[tokens], numbers.weight[tokens]
            for j in range(len(ids)):
                expected[ids[j]] += min(exp_positive * exps_negative[j], exp_negative * exps_positive[j]) * weights[j]
        entries = slice(rows.starts[s], rows.starts[s + 1])
        row, old = rows.columns[entries], rows.probabilities[entries]
        total = 0.0
        for entry in range(len(row)):
            expected[row[entry]] *= old[entry]
            total += expected[row[entry]]
        row_counts[s] = total
        _estimate(row, expected, total, concentration, old)
        for entry in range(len(row)):
            current[row[entry]] = old[entry]
            expected[row[entry]] = 0
        for occurrence in occurrences:
            tokens, exp_positive, exp_negative, exps_positive, exps_negative = _opposite_sentence(corpus, occurrence)
            ids, sums = corpus.target_ids[tokens], numbers.likelihood[tokens]
            for j in range(len(ids)):
                sums[j] += min(exp_positive * exps_negative[j], exp_negative * exps_positive[j]) * current[ids[j]]


@kernel
def _estimate(row: Array, expected: Array, total: float, concentration: float, weights: Array) -> None:
    """Fill in the weights of a row from its expected counts, which add up to `total`."""
    if concentration == 0:
        for entry in range(len(row)):
            weights[entry] = max(expected[row[entry]] / total, SMALLEST)
        return
    whole = _digamma(total + concentration * len(row))
    for entry in range(len(row)):
        count = expected[row[entry]] + concentration
        # ψ(x) < −1/x: most entries soon explain nothing and need no exact weight
        small = -1 / count < whole + LOG_SMALLEST
        weights[entry] = SMALLEST if small else max(numpy.exp(_digamma(count) - whole), SMALLEST)


@kernel
def _digamma(x: float) -> Any:
    """ψ(x) to 1e-10 for x > 0: eight steps of ψ(x) = ψ(x + 1) − 1/x, then the asymptotic series."""
    steps = 0.0
    while x < 8:
        steps += 1 / x
        x += 1
    y = 1 / (x * x)
    return numpy.log(x) - 0.5 / x - y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y / 132)))) - steps


@kernel
def _opposite_sentence(corpus: GroupedCorpus, occurrence: int) -> tuple[slice, float, float, Array, Array]:
    """The range of the target sentence opposite an occurrence; e^x and e^−x of the occurrence; all e^y and e^−y."""
    first, length, x = corpus.first[occurrence], corpus.length[occurrence], corpus.position[occurrence]
    y = length * (length - 1) // 2
    table = slice(y, y + length)
    return (
        slice(first, first + length),
        corpus.exp_positive[x],
        corpus.exp_negative[x],
        corpus.exp_positive[table],
        corpus.exp_negative[table],
    )


@kernel
def _finish_iteration(
    target_ids: Array, numbers: TargetTokens, null_row: Array, p_null: float, null_counts: Array
) -> float:
    """Turn each token's likelihood into its weight on the rows, and clear it; count NULL's shares.

    Returns:
        The sum of log p(t_j | s) over all target tokens, nats.
    """
    scale, weight, likelihood = numbers
    total = 0.0
    for token in range(len(target_ids)):
        t = target_ids[token]
        by_null = p_null * null_row[t]
        probability = by_null + scale[token] * likelihood[token]
        total += numpy.log(probability)
        null_counts[t] += by_null / probability
        weight[token] = scale[token] / probability
        likelihood[token] = 0
    return total


@kernel
def _mark_worthwhile(rows: SparseRows, row_counts: Array, keep: Array) -> None:
    """Mark the entries that explain at least `LEAST_COUNT` target tokens, and the best of each row."""
    for s in range(len(rows.starts) - 1):
        best = rows.starts[s]
        for entry in range(rows.starts[s], rows.starts[s + 1]):
            keep[entry] = rows.probabilities[entry] * row_counts[s] >= LEAST_COUNT
            if rows.probabilities[entry] > rows.probabilities[best]:
                best = entry
        if rows.starts[s + 1] > rows.starts[s]:
            keep[best] = True

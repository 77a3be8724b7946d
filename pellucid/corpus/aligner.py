"""Which word translates which, learnt from sentence pairs alone: IBM model 1 with a prior for the diagonal.

Each target token t_j is drawn from one source token s_i or from NULL: p(t | s) = Π_j Σ_i p(i | j) · p(t_j | s_i), with
p(NULL | j) = p₀ and p(i | j) = (1 − p₀) · exp(−λ·|(i+½)/S − (j+½)/T|) / Z_j. Expectation maximisation shares each target
token among the source tokens in proportion to that product, and re-estimates p(t | s) from the shares.

The tables are walked by source id, not by sentence. All that a row of p(t | s) needs, its occurrences with the target
sentences across from them, is visited while the row lies in the processor's cache, and the row is re-estimated and used
for the next iteration at once: no table of cells, and no sums of counts but one row's, is ever held in memory.

Source:
    Brown et al. 1993, model 1; Dyer, Chahuneau & Smith 2013 (fast_align), eq. 1.
Differs from source:
    positions are midpoints, (i+½)/S; λ is given and not re-estimated.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy
from numpy.typing import ArrayLike, NDArray

from pellucid.corpus.lexicon import FitReport, Lexicon, check_prior
from pellucid.kernels import kernel

__all__ = ["FitReport", "FitStep", "IdSequences", "Lexicon", "fit_lexicon"]

MAX_TOKENS = 400  # a longer sentence says little about its words, and its cost grows with the square
MAX_CELLS = 600_000_000  # source tokens × target tokens, over all pairs: at most 5 GB of entries, commonly under 2
SMALLEST = 1e-12  # no pair of words that stood together falls below; keeps denormals out of the sums
LEAST_COUNT = 0.01  # an entry that explains less than a hundredth of one target token in all the text is pruned


class IdSequences(Protocol):
    """Sentences as ids: a list of arrays, or an id store on disk."""

    def __len__(self) -> int:
        """Return the number of sentences."""

    def __getitem__(self, index: int, /) -> ArrayLike:
        """Return the ids of a sentence."""


class FitStep(NamedTuple):
    """An iteration done: its number from 1 on, how many there will be, and the mean log-probability of a token, nats."""

    iteration: int
    iterations: int
    log_likelihood: float


class Corpus(NamedTuple):
    """Sentence pairs laid out for the kernels: target text in order, source tokens grouped by id.

    Attributes:
        target_starts: int64 [pairs + 1], where each target sentence starts in `target_ids`.
        target_ids: uint32 [target tokens].
        source_lengths: int32 [pairs].
        group_starts: int64 [source vocabulary + 1], where the occurrences of each source id start.
        pair: int32 [source tokens], in which pair an occurrence stands.
        position: int32 [source tokens], and where in it.
        rise: float32, e^(λ(k+½)/n) for k < n, at n(n−1)/2 + k for each length n.
        fall: float32, its inverse.
    """

    target_starts: NDArray[numpy.int64]
    target_ids: NDArray[numpy.uint32]
    source_lengths: NDArray[numpy.int32]
    group_starts: NDArray[numpy.int64]
    pair: NDArray[numpy.int32]
    position: NDArray[numpy.int32]
    rise: NDArray[numpy.float32]
    fall: NDArray[numpy.float32]


def fit_lexicon(
    source: IdSequences,
    target: IdSequences,
    source_vocab_size: int,
    target_vocab_size: int,
    iterations: int = 5,
    diagonal_tension: float = 6.0,
    null_probability: float = 0.08,
    on_progress: Callable[[FitStep], None] | None = None,
) -> Lexicon:
    """Learn p(target id | source id) from sentence pairs.

    Deterministic. The mean log-likelihood of a token (`report.log_likelihoods`) never falls from one iteration to the
    next, but for rounding and for `SMALLEST`. At the end, entries that explain less than `LEAST_COUNT` target tokens in
    the whole text are pruned, but for the best of each row. Pairs with a blank side or a side over `MAX_TOKENS` are
    left out. If the pairs have more than `MAX_CELLS` cells, every n-th pair is left out so that they fit; the report
    tells how many.

    Args:
        source: one sequence of ids a sentence.
        target: their translations, in the same order.
        source_vocab_size: source ids are below it.
        target_vocab_size: target ids are below it.
        iterations: of expectation maximisation.
        diagonal_tension: λ; 0 makes it plain model 1 but for NULL.
        null_probability: p₀.
        on_progress: called after each iteration.

    Raises:
        ValueError: for sides of different lengths, an id outside its vocabulary, or parameters out of range.
    """
    check_prior(diagonal_tension, null_probability)
    if iterations < 1:
        raise ValueError(f"iterations must be at least 1, got {iterations}")
    if len(source) != len(target):
        raise ValueError(f"{len(source)} source and {len(target)} target sequences")
    source_lengths, target_lengths = _lengths(source), _lengths(target)
    chosen, left_out = _chosen_pairs(source_lengths, target_lengths)
    source_lengths, target_lengths = source_lengths[chosen], target_lengths[chosen]
    target_ids = _flat(target, chosen, target_lengths, target_vocab_size)
    corpus = _laid_out(
        _flat(source, chosen, source_lengths, source_vocab_size), target_ids,
        source_lengths, target_lengths, source_vocab_size, diagonal_tension,
    )  # fmt: skip
    tables = _Tables(corpus, target_vocab_size, null_probability)
    log_likelihoods = [-float(numpy.log(target_vocab_size))] if len(chosen) else []
    for iteration in range(1, iterations + 1):
        if len(chosen):
            log_likelihoods.append(tables.iterate())
            if on_progress is not None:
                on_progress(FitStep(iteration, iterations, log_likelihoods[-1]))
    row_starts, columns, probabilities = tables.pruned()
    return Lexicon(
        row_starts=row_starts,
        columns=columns,
        probabilities=probabilities,
        source_counts=numpy.diff(corpus.group_starts),
        target_vocab_size=target_vocab_size,
        diagonal_tension=float(diagonal_tension),
        null_probability=float(null_probability),
        report=FitReport(
            pairs=len(source),
            used=len(chosen),
            **left_out,
            target_tokens=len(target_ids),
            log_likelihoods=tuple(log_likelihoods),
        ),
    )


def _lengths(sequences: IdSequences) -> NDArray[numpy.int64]:
    return numpy.fromiter((len(numpy.asarray(sequences[i])) for i in range(len(sequences))), numpy.int64)


def _chosen_pairs(
    source_lengths: NDArray[numpy.int64], target_lengths: NDArray[numpy.int64]
) -> tuple[NDArray[numpy.int64], dict[str, int]]:
    """Return which pairs to count, ascending, and how many were left out for which reason."""
    shorter, longer = numpy.minimum(source_lengths, target_lengths), numpy.maximum(source_lengths, target_lengths)
    fit = numpy.flatnonzero((shorter > 0) & (longer <= MAX_TOKENS))
    cells = float((source_lengths[fit] * target_lengths[fit]).sum())
    keep = len(fit) if cells <= MAX_CELLS else int(len(fit) * MAX_CELLS / cells)
    chosen = fit[numpy.arange(keep) * len(fit) // max(keep, 1)]  # spread evenly: text is often ordered by topic
    blank = int((shorter == 0).sum())
    return chosen, {"blank": blank, "long": len(shorter) - blank - len(fit), "sampled": len(fit) - keep}


def _flat(
    sequences: IdSequences, chosen: NDArray[numpy.int64], lengths: NDArray[numpy.int64], vocab_size: int
) -> NDArray[numpy.uint32]:
    """Return the ids of the chosen sequences one after another."""
    flat = numpy.empty(int(lengths.sum()), numpy.uint32)
    end = 0
    for index, length in zip(chosen.tolist(), lengths.tolist(), strict=True):
        start, end = end, end + length
        flat[start:end] = sequences[index]
    if len(flat) and flat.max() >= vocab_size:
        raise ValueError(f"an id is outside the vocabulary of {vocab_size}")
    return flat


def _laid_out(
    source_ids: NDArray[numpy.uint32],
    target_ids: NDArray[numpy.uint32],
    source_lengths: NDArray[numpy.int64],
    target_lengths: NDArray[numpy.int64],
    source_vocab_size: int,
    tension: float,
) -> Corpus:
    longest = int(max(source_lengths.max(initial=0), target_lengths.max(initial=0)))
    size = numpy.repeat(numpy.arange(1, longest + 1), numpy.arange(1, longest + 1))
    place = numpy.arange(len(size)) - size * (size - 1) // 2
    rise = numpy.exp(tension * (place + 0.5) / size)
    group_starts = numpy.zeros(source_vocab_size + 1, numpy.int64)
    numpy.cumsum(numpy.bincount(source_ids, minlength=source_vocab_size), out=group_starts[1:])
    pair, position = numpy.empty(len(source_ids), numpy.int32), numpy.empty(len(source_ids), numpy.int32)
    _group(source_ids, source_lengths.astype(numpy.int32), group_starts[:-1].copy(), pair, position)
    return Corpus(
        target_starts=numpy.concatenate([numpy.zeros(1, numpy.int64), numpy.cumsum(target_lengths)]),
        target_ids=target_ids,
        source_lengths=source_lengths.astype(numpy.int32),
        group_starts=group_starts,
        pair=pair,
        position=position,
        rise=rise.astype(numpy.float32),
        fall=(1 / rise).astype(numpy.float32),
    )


class _Tables:
    """The tables of expectation maximisation: p(t | s) as sparse rows, p(t | NULL), and three numbers a target token."""

    def __init__(self, corpus: Corpus, target_vocab_size: int, null_probability: float) -> None:
        self.corpus = corpus
        self.null_probability = null_probability
        tokens = len(corpus.target_ids)
        stamps = numpy.full(target_vocab_size, -1, numpy.int64)
        self.row_starts = _count_entries(corpus, stamps)
        self.columns = numpy.empty(self.row_starts[-1], numpy.uint32)
        stamps[:] = -1
        _fill_columns(corpus, self.row_starts, stamps, self.columns)
        self.probabilities = numpy.full(len(self.columns), 1 / target_vocab_size, numpy.float32)
        self.row_counts = numpy.zeros(len(self.row_starts) - 1)  # target tokens each row explains
        self.scale = numpy.empty(tokens, numpy.float32)  # (1 − p₀) / Z_j
        _scale_priors(corpus, 1 - null_probability, self.scale)
        # At the start all words are equal, so p(t_j | s) is 1/V for each token, and NULL has p₀ of it.
        self.pull = self.scale * numpy.float32(target_vocab_size)  # (1 − p₀) / Z_j / p(t_j | s)
        self.mixed = numpy.zeros(tokens, numpy.float32)  # Σ_i exp(−λ|…|) · p(t_j | s_i)
        self.null_counts = numpy.bincount(corpus.target_ids, minlength=target_vocab_size) * null_probability
        self.null_row = numpy.zeros(target_vocab_size, numpy.float32)

    def iterate(self) -> float:
        """Re-estimate every row; return the mean log-likelihood of a token with the new rows, nats."""
        self.null_row[:] = numpy.maximum(self.null_counts / self.null_counts.sum(), SMALLEST)
        _reestimate(
            self.corpus, self.row_starts, self.columns, self.probabilities, self.row_counts,
            self.pull, self.mixed, len(self.null_row),
        )  # fmt: skip
        self.null_counts = numpy.zeros(len(self.null_row))
        total = _explain(
            self.corpus.target_ids, self.scale, self.null_row, self.null_probability,
            self.mixed, self.pull, self.null_counts,
        )  # fmt: skip
        return float(total) / len(self.pull)

    def pruned(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float32]]:
        """Return row starts, columns and probabilities without the entries that explain next to nothing; NULL last."""
        keep = numpy.empty(len(self.columns), numpy.bool_)
        _mark_worthwhile(self.row_starts, self.probabilities, self.row_counts, LEAST_COUNT, keep)
        null_columns = numpy.flatnonzero(self.null_row > 0)
        ends = numpy.concatenate([numpy.zeros(1, numpy.int64), numpy.cumsum(keep)])[self.row_starts]
        return (
            numpy.append(ends, ends[-1] + len(null_columns)),
            numpy.concatenate([self.columns[keep], null_columns]).astype(numpy.int32),
            numpy.concatenate([self.probabilities[keep], self.null_row[null_columns]]),
        )


@kernel
def _group(source_ids, source_lengths, next_place, pair, position):
    """Note for each source id, in order, in which pair and where in it the id stands."""
    token = 0
    for n in range(len(source_lengths)):
        for i in range(source_lengths[n]):
            place = next_place[source_ids[token]]
            next_place[source_ids[token]] += 1
            pair[place], position[place] = n, i
            token += 1


@kernel
def _count_entries(corpus, stamps):
    """Return where each row starts: row s has an entry for each target id that ever stood across from s."""
    row_starts = numpy.zeros(len(corpus.group_starts), numpy.int64)
    for s in range(len(row_starts) - 1):
        count = 0
        for occurrence in range(corpus.group_starts[s], corpus.group_starts[s + 1]):
            n = corpus.pair[occurrence]
            for token in range(corpus.target_starts[n], corpus.target_starts[n + 1]):
                t = corpus.target_ids[token]
                if stamps[t] != s:
                    stamps[t] = s
                    count += 1
        row_starts[s + 1] = row_starts[s] + count
    return row_starts


@kernel
def _fill_columns(corpus, row_starts, stamps, columns):
    """Fill in the target ids of each row, ascending."""
    for s in range(len(row_starts) - 1):
        end = row_starts[s]
        for occurrence in range(corpus.group_starts[s], corpus.group_starts[s + 1]):
            n = corpus.pair[occurrence]
            for token in range(corpus.target_starts[n], corpus.target_starts[n + 1]):
                t = corpus.target_ids[token]
                if stamps[t] != s:
                    stamps[t] = s
                    columns[end] = t
                    end += 1
        row = columns[row_starts[s] : end]
        if 8 * len(row) < len(stamps):
            row.sort()
        else:  # nearly every target id: reading them off is faster than sorting
            place = 0
            for t in range(len(stamps)):
                if stamps[t] == s:
                    row[place] = t
                    place += 1


@kernel
def _scale_priors(corpus, share, scale):
    """Fill scale [target tokens] with share / Σ_i exp(−λ|x_i − y_j|)."""
    for n in range(len(corpus.source_lengths)):
        first, length = corpus.target_starts[n], corpus.target_starts[n + 1] - corpus.target_starts[n]
        n_source = corpus.source_lengths[n]
        x, y = n_source * (n_source - 1) // 2, length * (length - 1) // 2
        for j in range(length):
            total = numpy.float32(0)
            for i in range(n_source):
                total += min(corpus.rise[x + i] * corpus.fall[y + j], corpus.fall[x + i] * corpus.rise[y + j])
            scale[first + j] = share / total


@kernel
def _reestimate(corpus, row_starts, columns, probabilities, row_counts, pull, mixed, target_vocab_size):
    """Re-estimate each row from the shares of its occurrences, and add what it then explains to `mixed`.

    exp(−λ|x − y|) is the lesser of e^x·e^−y and e^−x·e^y (λ within x and y): two products of table entries, no exp.
    """
    expected = numpy.zeros(target_vocab_size)  # of one row: float64, for a count may reach millions
    current = numpy.empty(target_vocab_size, numpy.float32)
    for s in range(len(row_starts) - 1):
        occurrences = range(corpus.group_starts[s], corpus.group_starts[s + 1])
        for occurrence in occurrences:
            n, i = corpus.pair[occurrence], corpus.position[occurrence]
            first, length = corpus.target_starts[n], corpus.target_starts[n + 1] - corpus.target_starts[n]
            n_source = corpus.source_lengths[n]
            x, y = n_source * (n_source - 1) // 2 + i, length * (length - 1) // 2
            rise, fall = corpus.rise[x], corpus.fall[x]
            for j in range(length):
                near = min(rise * corpus.fall[y + j], fall * corpus.rise[y + j])
                expected[corpus.target_ids[first + j]] += near * pull[first + j]
        total = 0.0
        for entry in range(row_starts[s], row_starts[s + 1]):
            count = expected[columns[entry]] * probabilities[entry]
            expected[columns[entry]] = count
            total += count
        row_counts[s] = total
        for entry in range(row_starts[s], row_starts[s + 1]):
            t = columns[entry]
            probabilities[entry] = current[t] = max(expected[t] / total, SMALLEST)
            expected[t] = 0
        for occurrence in occurrences:
            n, i = corpus.pair[occurrence], corpus.position[occurrence]
            first, length = corpus.target_starts[n], corpus.target_starts[n + 1] - corpus.target_starts[n]
            n_source = corpus.source_lengths[n]
            x, y = n_source * (n_source - 1) // 2 + i, length * (length - 1) // 2
            rise, fall = corpus.rise[x], corpus.fall[x]
            for j in range(length):
                near = min(rise * corpus.fall[y + j], fall * corpus.rise[y + j])
                mixed[first + j] += near * current[corpus.target_ids[first + j]]


@kernel
def _explain(target_ids, scale, null_row, p_null, mixed, pull, null_counts):
    """Turn `mixed` into each token's `pull` on the rows, and clear it; count NULL's shares.

    Returns:
        The sum of log p(t_j | s) over all target tokens, nats.
    """
    total = 0.0
    for token in range(len(target_ids)):
        t = target_ids[token]
        by_null = p_null * null_row[t]
        probability = by_null + scale[token] * mixed[token]
        total += numpy.log(probability)
        null_counts[t] += by_null / probability
        pull[token] = scale[token] / probability
        mixed[token] = 0
    return total


@kernel
def _mark_worthwhile(row_starts, probabilities, row_counts, least, keep):
    """Mark the entries with an expected count of at least `least`, and the best of each row."""
    for s in range(len(row_starts) - 1):
        best = row_starts[s]
        for entry in range(row_starts[s], row_starts[s + 1]):
            keep[entry] = probabilities[entry] * row_counts[s] >= least
            if probabilities[entry] > probabilities[best]:
                best = entry
        if row_starts[s + 1] > row_starts[s]:
            keep[best] = True

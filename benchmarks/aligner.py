"""Speed of the aligner, compared with the plain way: a dense table, processed sentence by sentence.

    python benchmarks/aligner.py pairs.tsv [--vocab-size 4000 | --words] [--pairs N] [--no-dense]

Prints CPU seconds of one thread, compiling left out; memory is what the process grew by.
"""

import argparse
import os
import resource
import time
from collections.abc import Callable
from itertools import islice

import numpy
from numba import njit

from pellucid.alignment.fitting import Lexicon, fit_lexicon
from pellucid.corpus.reading import read_pairs
from pellucid.corpus.words import split_words
from pellucid.tokenizers import TokenizerConfig, train_tokenizer

BATCH_TOKENS = 640  # target tokens of a training step of the `fast` recipe


def main() -> None:
    """Read the text, fit in both ways, and print the results."""
    options = _options()
    pairs = [(pair.source, pair.target) for pair in islice(read_pairs(options.sources), options.pairs)]
    source, target, n_source, n_target = _ids(pairs, None if options.words else options.vocab_size)
    cells = sum(len(s) * len(t) for s, t in zip(source, target, strict=True))
    print(f"{len(pairs):,} pairs, {sum(map(len, source)):,} and {sum(map(len, target)):,} tokens, {cells:,} cells")
    print(f"{n_source:,} and {n_target:,} ids; load average {os.getloadavg()[0]:.1f}")
    fit_lexicon(source[:10], target[:10], n_source, n_target)  # compiles

    before, marks = _memory(), []
    seconds, lexicon = _timed(
        lambda: fit_lexicon(source, target, n_source, n_target, on_progress=lambda _: marks.append(time.process_time()))
    )
    iteration = min(numpy.diff(marks))
    print(f"sparse: {seconds:.2f} s for 5 iterations and all set-up, {iteration:.3f} s an iteration", end=", ")
    print(f"{iteration / cells * 1e9:.1f} ns a cell, grew by {_memory() - before:.0f} MB")
    print(f"  {lexicon.report}")
    print(f"  {len(lexicon.columns):,} entries")
    _time_posteriors(lexicon, source, target)
    if not options.no_dense:
        likely = fit_lexicon(source, target, n_source, n_target, concentration=0)
        _time_dense(source, target, n_source, n_target, likely.report.log_likelihoods)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--vocab-size", type=int, default=4000)
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--no-dense", action="store_true")
    return parser.parse_args()


def _ids(pairs: list[tuple[str, str]], vocab_size: int | None) -> tuple[list, list, int, int]:
    if vocab_size is not None:
        tokenizer = train_tokenizer([text for pair in pairs for text in pair], TokenizerConfig(vocab_size=vocab_size))
        sides = [
            [numpy.array(ids, numpy.int32) for ids in tokenizer.encode_batch(side)] for side in zip(*pairs, strict=True)
        ]
        return sides[0], sides[1], tokenizer.vocab_size, tokenizer.vocab_size
    numbers: tuple[dict[str, int], dict[str, int]] = ({}, {})
    sides = [
        [
            numpy.array([number.setdefault(w.casefold(), len(number)) for w in split_words(p[k])], numpy.int32)
            for p in pairs
        ]
        for k, number in enumerate(numbers)
    ]
    return sides[0], sides[1], len(numbers[0]), len(numbers[1])


def _timed(work: Callable[[], Lexicon]) -> tuple[float, Lexicon]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def _memory() -> float:
    """The peak memory of the process, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _time_posteriors(lexicon: Lexicon, source: list, target: list) -> None:
    """Print the CPU time of the posteriors of a training step, batched by length."""
    order = sorted(range(len(source)), key=lambda n: len(target[n]))
    width = len(target[order[len(order) // 2]])
    batch = order[len(order) // 2 :][: max(1, BATCH_TOKENS // width)]
    lengths = [[len(side[n]) for n in batch] for side in (source, target)]
    padded = [numpy.zeros((len(batch), max(of_side)), numpy.int32) for of_side in lengths]
    for rows, side in zip(padded, (source, target), strict=True):
        for row, n in zip(rows, batch, strict=True):
            row[: len(side[n])] = side[n]
    times = []
    for _ in range(200):
        start = time.process_time()
        lexicon.batch_posteriors(padded[0], lengths[0], padded[1], lengths[1])
        times.append(time.process_time() - start)
    shape = (len(batch), padded[1].shape[1], padded[0].shape[1])
    print(f"  posteriors of a batch {shape}: {1e3 * float(numpy.median(times)):.3f} ms")


def _time_dense(source: list, target: list, n_source: int, n_target: int, expected: tuple[float, ...]) -> None:
    """Fit a dense table for the same number of iterations; the likelihoods must be equal."""
    starts = [numpy.concatenate([[0], numpy.cumsum([len(ids) for ids in side])]) for side in (source, target)]
    flat = [numpy.concatenate(side) for side in (source, target)]
    _dense_iteration(
        flat[0], starts[0][:2], flat[1], starts[1][:2], numpy.ones((n_source + 1, n_target), numpy.float32)
    )
    table = numpy.full((n_source + 1, n_target), 1 / n_target, numpy.float32)
    start, likelihoods = time.process_time(), []
    for _ in range(5):
        counts, total = _dense_iteration(flat[0], starts[0], flat[1], starts[1], table)
        likelihoods.append(total / len(flat[1]))
        table = counts / numpy.maximum(counts.sum(1, keepdims=True), 1e-30)
    seconds = time.process_time() - start
    print(f"dense: {seconds:.2f} s for 5 iterations, {seconds / 5:.2f} s an iteration, {2 * table.nbytes / 1e6:.0f} MB")
    print(f"  log-likelihoods without a prior, dense: {[round(value, 4) for value in likelihoods]}")
    print(f"  the same, sparse:                      {[round(value, 4) for value in expected[:-1]]}")


@njit(fastmath=True)
def _dense_iteration(source_ids, source_starts, target_ids, target_starts, table, tension=6.0, p_null=0.08):
    counts = numpy.zeros_like(table)
    null = len(table) - 1
    total = 0.0
    share = numpy.empty(4096, numpy.float32)
    for n in range(len(source_starts) - 1):
        source = source_ids[source_starts[n] : source_starts[n + 1]]
        target = target_ids[target_starts[n] : target_starts[n + 1]]
        for j in range(len(target)):
            near = 0.0
            for i in range(len(source)):
                share[i] = numpy.exp(-tension * abs((i + 0.5) / len(source) - (j + 0.5) / len(target)))
                near += share[i]
            by_null = p_null * table[null, target[j]]
            probability = by_null
            for i in range(len(source)):
                share[i] *= (1 - p_null) / near * table[source[i], target[j]]
                probability += share[i]
            total += numpy.log(probability)
            counts[null, target[j]] += by_null / probability
            for i in range(len(source)):
                counts[source[i], target[j]] += share[i] / probability
    return counts, total


if __name__ == "__main__":
    main()

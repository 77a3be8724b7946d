"""Skip-gram and CBOW with a softmax over all words: full, or hierarchical (a path in a Huffman tree).

Both cost more than negative sampling, and give exact probabilities. The time of the full softmax grows with the
vocabulary: it is for small vocabularies and for demonstrations (`demo/micro_world.py`). Plain loops; each step follows
the gradient of −log p(target | h), where h is an input row (skip-gram) or the mean or sum of some (CBOW).
"""

import math
from typing import Any

import numpy
from numba import int64, uint64

from pellucid.kernels import simd
from pellucid.kernels.compilation import kernel, kernel_using
from pellucid.word_vectors import negative_sampler, shards, updates
from pellucid.word_vectors.shards import EpochArrays, gather_rows, next_state

__all__ = ["full_softmax_step", "hierarchical_softmax_step", "run_softmax_rounds"]


@kernel
def full_softmax_step(h: Any, outputs: Any, target: Any, rate: Any, change: Any, probabilities: Any) -> Any:
    """Update output rows by the gradient of −log softmax(outputs · h)[target] and compute that loss.

    p = softmax(outputs h); outputs −= rate · (p − onehot) hᵀ, and change = outputsᵀ (onehot − p), the update of h
    computed before that of the outputs.

    Args:
        h: [d].
        outputs: [vocab_size, d or more].
        target: a word.
        change: [d], overwritten.
        probabilities: [vocab_size], overwritten with p.
    """
    dim, vocab_size = len(h), len(outputs)
    largest = -numpy.inf
    for word in range(vocab_size):
        score = 0.0
        for i in range(dim):
            score += h[i] * outputs[word, i]
        probabilities[word] = score
        largest = max(largest, score)
    total = 0.0
    for word in range(vocab_size):
        probabilities[word] = math.exp(probabilities[word] - largest)
        total += probabilities[word]
    for i in range(dim):
        change[i] = 0
    for word in range(vocab_size):
        probabilities[word] /= total
        error = (1.0 if word == target else 0.0) - probabilities[word]
        for i in range(dim):
            change[i] += error * outputs[word, i]
            outputs[word, i] += rate * error * h[i]
    return -math.log(max(probabilities[target], 1e-300))


@kernel
def hierarchical_softmax_step(h: Any, outputs: Any, tree: Any, target: Any, rate: Any, change: Any) -> Any:
    """Update the rows on a word's path by the gradient of −log p(target | h) and compute that loss.

    p is the product of the probabilities of the code's bits: σ(h · node) for 0, 1 − σ(h · node) for 1. Arguments as
    in `full_softmax_step`; `outputs` has a row for each inner node.
    """
    dim, loss = len(h), 0.0
    for i in range(dim):
        change[i] = 0
    for place in range(tree.starts[target], tree.starts[target + 1]):
        row, sign = outputs[tree.nodes[place]], 1.0 - 2.0 * tree.bits[place]
        score = 0.0
        for i in range(dim):
            score += h[i] * row[i]
        probability = 1 / (1 + math.exp(-sign * score))
        loss -= math.log(max(probability, 1e-300))
        error = sign * (1 - probability)
        for i in range(dim):
            change[i] += error * row[i]
            row[i] += rate * error * h[i]
    return loss


@kernel
def _predict(
    h: Any, outputs: Any, tree: Any, target: Any, rate: Any, change: Any, probabilities: Any, full: Any
) -> Any:
    if full:
        return full_softmax_step(h, outputs, target, rate, change, probabilities)
    return hierarchical_softmax_step(h, outputs, tree, target, rate, change)


@kernel_using(negative_sampler, simd, shards, updates)
def run_softmax_rounds(
    arrays: EpochArrays, first_round: Any, last_round: Any, thread: Any, threads: Any, barrier_state: Any
) -> Any:
    """Run rounds in place, as `negative_sampling` does; `plan.full` and `plan.cbow` select objective and model."""
    _, inputs, outputs, tree, buffers, plan, window = arrays
    n_workers, weights, full, cbow = len(buffers.counts), plan.weights, plan.full[0], plan.cbow[0]
    dim = inputs.shape[1]
    h, change = numpy.zeros(dim, numpy.float32), numpy.zeros(dim, numpy.float32)
    probabilities = numpy.zeros(len(outputs), numpy.float32)
    for number in range(first_round, last_round):
        rate = plan.rates[number]
        for worker in range(thread, n_workers, threads):
            gather_rows(arrays, worker, number * n_workers + worker)
            words, state, begin = buffers.words[worker], buffers.state[worker, 0], int64(0)
            loss, predictions = 0.0, 0
            for segment in range(buffers.counts[worker, 0]):
                end = buffers.segments[worker, segment, 2]
                for centre in range(buffers.segments[worker, segment, 0], buffers.segments[worker, segment, 1]):
                    state = next_state(state)
                    reach = int64(window)
                    if plan.dynamic[0]:
                        reach -= int64(((state >> uint64(48)) * uint64(window)) >> uint64(16))
                    low, high = max(begin, centre - reach), min(end, centre + reach + 1)
                    target, count = words[centre], high - low - 1
                    if cbow:
                        weight, back = weights[0] / count + weights[1], weights[2] / count + weights[3]
                        for i in range(dim):
                            h[i] = 0
                            for at in range(low, high):
                                h[i] += weight * inputs[words[at], i] if at != centre else 0
                        loss += _predict(h, outputs, tree, target, rate, change, probabilities, full)
                        for at in range(low, high):
                            if at != centre:
                                for i in range(dim):
                                    inputs[words[at], i] += back * rate * change[i]
                        predictions += 1
                        continue
                    for at in range(low, high):
                        if at != centre:
                            for i in range(dim):
                                h[i] = inputs[words[at], i]
                            loss += _predict(h, outputs, tree, target, rate, change, probabilities, full)
                            for i in range(dim):
                                inputs[words[at], i] += rate * change[i]
                            predictions += 1
                begin = end
            buffers.summed_loss[worker, 0] += loss
            buffers.counts[worker, 2] += predictions

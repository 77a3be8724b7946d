"""A plain, slow twin of the aligner: dense tables, sentence by sentence, float64, one line an equation."""

from collections.abc import Sequence
from math import lgamma
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

Array = NDArray[numpy.float64]
Pairs = Sequence[tuple[Sequence[int], Sequence[int]]]
SMALLEST = 1e-12


class Fitted(NamedTuple):
    table: Array  # [source vocabulary + 1, target vocabulary], NULL last
    log_likelihoods: list[float]
    bounds: list[float]  # what variational Bayes makes grow; the log-likelihood where there is no prior


def joint(table: Array, source: Sequence[int], target: Sequence[int], tension: float, p_null: float) -> Array:
    """Return p(i, t_j | s) [target, source + 1], NULL last."""
    x, y = (
        (numpy.arange(len(source)) + 0.5) / max(len(source), 1),
        (numpy.arange(len(target)) + 0.5) / max(len(target), 1),
    )
    near = numpy.exp(-tension * abs(x[None, :] - y[:, None]))
    prior = (1 - p_null) * near / near.sum(1, keepdims=True)
    words = table[numpy.array(source, int)][:, numpy.array(target, int)].T
    null = p_null * table[-1][numpy.array(target, int)]
    return numpy.concatenate([prior * words, null[:, None]], 1)


def posteriors(table: Array, source: Sequence[int], target: Sequence[int], tension: float, p_null: float) -> Array:
    """Return p(i | j) [target, source + 1], NULL last; each row sums to 1."""
    p = joint(table, source, target, tension, p_null)
    return numpy.asarray(p / p.sum(1, keepdims=True))


def fit(
    pairs: Pairs, n_source: int, n_target: int, iterations: int, tension: float, p_null: float, concentration: float
) -> Fitted:
    together = numpy.zeros((n_source + 1, n_target), bool)
    for source, target in pairs:
        together[numpy.ix_([*source, n_source], target)] = True
    table = numpy.full((n_source + 1, n_target), 1 / n_target)
    log_likelihoods, bounds = [log_likelihood(table, pairs, tension, p_null)], []
    for _ in range(iterations):
        counts = numpy.zeros_like(table)
        for source, target in pairs:
            share = posteriors(table, source, target, tension, p_null)
            for j, t in enumerate(target):
                for i, s in enumerate([*source, n_source]):
                    counts[s, t] += share[j, i]
        table = numpy.zeros_like(table)
        divergence = 0.0
        for s in range(n_source + 1):
            row = together[s]
            if not row.any():
                continue
            if s == n_source or concentration == 0:
                weights = counts[s, row] / counts[s, row].sum()
            else:
                a = counts[s, row] + concentration
                logs = digamma(a) - digamma(a.sum())
                weights = numpy.exp(logs)
                divergence += lgamma(a.sum()) - sum(map(lgamma, a)) - lgamma(concentration * len(a))
                divergence += len(a) * lgamma(concentration) + ((a - concentration) * logs).sum()
            table[s, row] = numpy.maximum(weights, SMALLEST)
        log_likelihoods.append(log_likelihood(table, pairs, tension, p_null))
        bounds.append(log_likelihoods[-1] - divergence / sum(len(target) for _, target in pairs))
    return Fitted(table, log_likelihoods, bounds)


def log_likelihood(table: Array, pairs: Pairs, tension: float, p_null: float) -> float:
    """Return the mean log-probability of a target token, nats."""
    logs = [numpy.log(joint(table, source, target, tension, p_null).sum(1)) for source, target in pairs]
    return float(numpy.concatenate(logs).mean())


def digamma(x: Array | float) -> Array:
    """Return ψ(x), the derivative of log Γ, by many steps of the recurrence and one term of the series."""
    x = numpy.array(x, float)
    steps = sum(1 / (x + k) for k in range(200))
    return numpy.asarray(numpy.log(x + 200) - 0.5 / (x + 200) - 1 / 12 / (x + 200) ** 2 - steps)

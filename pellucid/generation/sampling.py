"""Sample the next token from the logits of a step.

Two distributions are kept apart everywhere: the model's own, the softmax of its logits (`log_prob`); and the one that
is sampled from, after repetition penalty, temperature and truncation (`sampling_log_prob`). At temperature 1 and with
nothing else set, they differ only by the tokens that are forbidden.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from pellucid.errors import UserError
from pellucid.generation.sampling_config import SamplingConfig

__all__ = [
    "Distribution",
    "Logits",
    "apply_repetition_penalty",
    "greedy",
    "log_normaliser",
    "non_finite_error",
    "sample",
    "sampling_distribution",
]

Logits = NDArray[numpy.float32]
"""Scores of every token to come next, before the softmax, [vocab_size]; nats."""

_MIN_TEMPERATURE = 1e-30  # below it, nothing changes except that numbers overflow
_MAX_LOGIT = 1e30  # of a penalised logit: beyond, numbers overflow, and the token is as certain or as impossible
_ROUNDING = 1e-6  # a sum of probabilities this close to top_p has reached it: logits are float32


class Distribution(NamedTuple):
    """The tokens that can be sampled.

    Attributes:
        ids: ascending.
        probabilities: of each, float64; they sum to 1.
    """

    ids: NDArray[numpy.int64]
    probabilities: NDArray[numpy.float64]

    def log_prob(self, token_id: int) -> float:
        """Compute the natural logarithm of an id's probability; −inf if it cannot be sampled."""
        i = int(self.ids.searchsorted(token_id))
        found = i < len(self.ids) and self.ids[i] == token_id
        probability = float(self.probabilities[i]) if found else 0.0
        return math.log(probability) if probability else -math.inf


def log_normaliser(logits: Logits) -> float:
    """Compute the logarithm of the sum of exponentials; a logit minus this is the model's log-probability.

    Raises:
        UserError: if logits are NaN or infinite.
    """
    highest = logits.max()
    if not numpy.isfinite(highest):
        raise non_finite_error()
    return float(highest) + float(numpy.log(numpy.exp(logits - highest).sum(dtype=numpy.float64)))


def non_finite_error() -> UserError:
    """Create the error for a model that computes NaN or infinities."""
    return UserError(
        "the model computes NaN or infinite logits, which give no probabilities",
        where="model.safetensors",
        hint="Its weights are damaged; copy or import the model again.",
    )


def apply_repetition_penalty(logits: Logits, occurred: Sequence[int], penalty: float) -> Logits:
    """Make tokens that have occurred less probable: divide their logits if positive, multiply them if negative.

    A token that occurred often is penalised like one that occurred once. The effect depends on where the model's logits
    have their zero, which no probability does: the same penalty is stronger in one model than in another.

    Args:
        logits: not changed.
        penalty: above 1 against repetition; 1: none.

    Source:
        Keskar et al. 2019 (CTRL), §4.1. Differs from source: negative logits are multiplied, as is common since, or
        these tokens would become more probable.
    """
    ids = numpy.unique(numpy.asarray(occurred, dtype=numpy.int64))
    penalised = logits.copy()
    old = penalised[ids].astype(numpy.float64)
    with numpy.errstate(over="ignore"):
        new = numpy.where(old > 0, old / penalty, old * penalty)
    penalised[ids] = numpy.clip(new, -_MAX_LOGIT, _MAX_LOGIT)
    return penalised


def greedy(logits: Logits) -> Distribution:
    """Make the most probable token certain; of several, the one with the lowest id."""
    return Distribution(numpy.array([logits.argmax()]), numpy.ones(1))


def sampling_distribution(logits: Logits, config: SamplingConfig) -> Distribution:
    """Compute the distribution to sample from.

    Applies temperature, top-k, top-p and min-p in this order, each to what the one before it left, normalised again.

    Args:
        logits: after the repetition penalty; −inf for forbidden tokens.
        config: temperature 0 is `greedy`, which is also the limit of the temperature going to 0.
    """
    if not config.temperature:
        return greedy(logits)
    scores = numpy.subtract(logits, logits.max(), dtype=numpy.float64)
    weights = numpy.exp(scores / max(config.temperature, _MIN_TEMPERATURE))
    ids = numpy.arange(len(weights))
    if 0 < config.top_k < len(logits):
        ids = _most_probable(weights, config.top_k)
    if config.top_p < 1:
        ids = ids[_nucleus(weights[ids], config.top_p)]
    if config.min_p > 0:
        ids = ids[weights[ids] >= config.min_p * weights[ids].max()]
    kept = weights[ids]
    return Distribution(ids, kept / kept.sum())


def sample(distribution: Distribution, number: float) -> int:
    """Sample an id by a uniform random number from [0, 1); never one of probability 0."""
    sums = distribution.probabilities.cumsum()
    return int(distribution.ids[sums.searchsorted(number * sums[-1], side="right")])


def _most_probable(weights: NDArray[numpy.float64], count: int) -> NDArray[numpy.int64]:
    """Find the indices of the `count` highest weights, ascending; of equal ones at the border the first, never a 0."""
    border = numpy.partition(weights, -count)[-count]
    (indices,) = (weights >= border if border else weights).nonzero()
    if len(indices) > count:
        above, level = (indices[compare(weights[indices], border)] for compare in (numpy.greater, numpy.equal))
        indices = numpy.sort(numpy.concatenate((above, level[: count - len(above)])))
    return indices


def _nucleus(weights: NDArray[numpy.float64], share: float) -> NDArray[numpy.int64]:
    """Find the indices of the fewest highest weights that have `share` of the sum, ascending; at least one.

    Weights below (1 − share) / 2n of the sum have less than half of 1 − share together: none of them is needed, so they
    are not sorted. Without the factor 2, rounding could leave none of n equal weights.
    """
    total = weights.sum()
    candidates = numpy.flatnonzero(weights >= (1 - share) / (2 * len(weights)) * total)
    order = candidates[numpy.argsort(-weights[candidates], kind="stable")]
    sums = weights[order].cumsum()
    count = 1 + int(sums.searchsorted((share - _ROUNDING) * total, side="left"))
    return numpy.sort(order[:count])

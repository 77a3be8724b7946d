"""From the logits of one step to the token that comes next.

Two distributions are told apart everywhere. What the model says: softmax of its logits, `log_prob`. What is drawn
from, after penalty, temperature and cuts: `sampling_log_prob`. At temperature 1 without anything else they are equal
but for what may not come next at all.
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
    "draw",
    "greedy",
    "log_normaliser",
    "non_finite_error",
    "sampling_distribution",
]

Logits = NDArray[numpy.float32]
"""Scores of every token to come next, before the softmax, [vocab_size]; nats."""

_COLDEST = 1e-30  # temperature below which nothing changes but that numbers overflow
_LARGEST = 1e30  # a penalised logit: what is beyond would overflow, and is as certain or as impossible
_ROUNDING = 1e-6  # a sum of probabilities that comes so near top_p has reached it: logits are float32


class Distribution(NamedTuple):
    """The tokens that may be drawn.

    Attributes:
        ids: ascending.
        probabilities: of each, float64; they sum to 1.
    """

    ids: NDArray[numpy.int64]
    probabilities: NDArray[numpy.float64]

    def log_prob(self, number: int) -> float:
        """Return the natural logarithm of the probability of drawing an id; −inf if it cannot be drawn."""
        place = int(self.ids.searchsorted(number))
        found = place < len(self.ids) and self.ids[place] == number
        probability = float(self.probabilities[place]) if found else 0.0
        return math.log(probability) if probability else -math.inf


def log_normaliser(logits: Logits) -> float:
    """Return the logarithm of the sum of exponentials: a logit minus this is the model's log-probability.

    Raises:
        UserError: if they are no numbers.
    """
    highest = logits.max()
    if not numpy.isfinite(highest):
        raise non_finite_error()
    return float(highest) + float(numpy.log(numpy.exp(logits - highest).sum(dtype=numpy.float64)))


def non_finite_error() -> UserError:
    """Return what to tell where a model computes NaN or infinities."""
    return UserError(
        "the model gives no probabilities: what it computes are no finite numbers",
        hint="Its weights are damaged; copy or import the model again.",
    )


def apply_repetition_penalty(logits: Logits, pluralize: Sequence[int], penalty: float) -> Logits:
    """Make what has occurred less probable: divide its logit by the penalty if positive, multiply it if negative.

    A token that occurred often is penalised as one that occurred once. The result depends on where the model's logits
    have their zero, which no probability does: the same penalty is of different strength in different models.

    Args:
        logits: left as they are.
        counted: ids that have occurred.
        penalty: above 1 against repetition, 1 for none.

    Source:
        Keskar et al. 2019 (CTRL), §4.1. Differs from source: negative logits are multiplied, as everywhere since, or
        they would become more probable.
    """
    ids = numpy.unique(numpy.asarray(pluralize, dtype=numpy.int64))
    changed = logits.copy()
    old = changed[ids].astype(numpy.float64)
    with numpy.errstate(over="ignore"):
        apply_repetition_penalty = numpy.where(old > 0, old / penalty, old * penalty)
    changed[ids] = numpy.clip(apply_repetition_penalty, -_LARGEST, _LARGEST)
    return changed


def greedy(logits: Logits) -> Distribution:
    """Return the distribution in which the most probable token is certain, the lowest id of several."""
    return Distribution(numpy.array([logits.argmax()]), numpy.ones(1))


def sampling_distribution(logits: Logits, config: SamplingConfig) -> Distribution:
    """Return what is drawn from: temperature, then top-k, top-p and min-p, each on what is left, summing to 1 again.

    Args:
        logits: −inf for what may not come next; penalties are in them already.
        config: temperature 0 is `greedy`; the limit of the temperature going to 0 is, too.
    """
    if not config.temperature:
        return greedy(logits)
    scores = numpy.subtract(logits, logits.max(), dtype=numpy.float64)
    weights = numpy.exp(scores / max(config.temperature, _COLDEST))
    ids = numpy.arange(len(weights))
    if 0 < config.top_k < len(logits):
        ids = _most_probable(weights, config.top_k)
    if config.top_p < 1:
        ids = ids[_nucleus(weights[ids], config.top_p)]
    if config.min_p > 0:
        ids = ids[weights[ids] >= config.min_p * weights[ids].max()]
    kept = weights[ids]
    return Distribution(ids, kept / kept.sum())


def draw(distribution: Distribution, number: float) -> int:
    """Return the id that a number from 0 up to 1, evenly drawn, stands for; one of probability 0 is never it."""
    sums = distribution.probabilities.cumsum()
    return int(distribution.ids[sums.searchsorted(number * sums[-1], side="right")])


def _most_probable(weights: NDArray[numpy.float64], count: int) -> NDArray[numpy.int64]:
    """Return the places of the `count` highest, ascending; of equal ones at the border the first, none that is 0."""
    border = numpy.partition(weights, -count)[-count]
    (places,) = (weights >= border if border else weights).nonzero()
    if len(places) > count:
        above, level = (places[compare(weights[places], border)] for compare in (numpy.greater, numpy.equal))
        places = numpy.sort(numpy.concatenate((above, level[: count - len(above)])))
    return places


def _nucleus(weights: NDArray[numpy.float64], share: float) -> NDArray[numpy.int64]:
    """Return the places of the fewest highest that have `share` of the sum, ascending; at least one.

    Those below (1 − share) / 2n of it together have less than half of 1 − share: none of them is needed, and the sort
    is spared. Without the half, rounding could leave none of n that are equal.
    """
    total = weights.sum()
    candidates = numpy.flatnonzero(weights >= (1 - share) / (2 * len(weights)) * total)
    order = candidates[numpy.argsort(-weights[candidates], kind="stable")]
    sums = weights[order].cumsum()
    count = 1 + int(sums.searchsorted((share - _ROUNDING) * total, side="left"))
    return numpy.sort(order[:count])

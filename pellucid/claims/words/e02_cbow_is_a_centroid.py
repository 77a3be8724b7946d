"""E2: CBOW sees the mean of its context, and no order."""

from collections.abc import Callable

import numpy

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_most
from pellucid.claims.texts import ROUNDING_64
from pellucid.demo.micro_world import MicroStep, initial_matrices, micro_step
from pellucid.randomness import generator

__all__ = ["CLAIM", "measure"]

Step = Callable[[numpy.ndarray, numpy.ndarray, list[int], int], MicroStep]
_COMPARED = ("h", "loss", "gradient_w_in", "gradient_w_out")


def measure(seed: int, step: Step = micro_step, contexts: int = 40) -> Evidence:
    """Shuffle contexts of six words and compare hidden vector, loss and gradients; and the vector with the centroid."""
    draw, (w_in, w_out) = generator(seed, "E2"), initial_matrices(seed)
    largest, off_centre = dict.fromkeys(_COMPARED, 0.0), 0.0
    for _ in range(contexts):
        context, target = draw.integers(0, 3, 6).tolist(), int(draw.integers(3))
        there = step(w_in, w_out, context, target)
        shuffled = step(w_in, w_out, draw.permutation(context).tolist(), target)
        off_centre = max(off_centre, float(numpy.abs(there.h - w_in[context].mean(axis=0)).max()))
        for name in _COMPARED:
            difference = numpy.abs(numpy.asarray(getattr(there, name)) - numpy.asarray(getattr(shuffled, name))).max()
            largest[name] = max(largest[name], float(difference))
    records = [{"quantity": name, "largest_difference": value} for name, value in largest.items()]
    titles = {
        "quantity": Text("what was compared", "比较的量"),
        "largest_difference": Text("largest difference after shuffling", "打乱后的最大差"),
    }
    numbers = exact_values(difference_after_shuffling=max(largest.values()), distance_from_centroid=off_centre)
    return Evidence(numbers, records, Figure("bar", "quantity", "largest_difference", None, titles))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


CLAIM = Claim(
    id="E2",
    statement=Text(
        "CBOW's hidden vector is the mean (centroid) of the context's rows, blind to their order.",
        "CBOW 的隐藏向量是上下文各行的均值（质心），与次序无关。",
    ),
    equation="h = (1/C) Σ W_in[c]",
    measured=Text(
        "40 contexts of six words, shuffled: hidden vector, loss and all gradients before and after",
        "40 个六词上下文打乱次序：比较前后的隐藏向量、损失和全部梯度",
    ),
    rule=Rule(
        (
            at_most("difference_after_shuffling", 1e-10, ROUNDING_64),
            at_most("distance_from_centroid", 1e-10, ROUNDING_64),
        )
    ),
    reading=Text(
        "A mean has no order, so 猫追狗 and 狗追猫 are one context to CBOW, and every gradient is the same too. What "
        "order there is in word2vec comes from outside the sum: which words are in the window, and that near words "
        "are "
        "kept more often when the window is drawn. Ling et al. (2015) gave each place its own matrix and gained "
        "most in "
        "syntactic tasks: what the mean loses is grammar.",
        "均值没有次序，所以对 CBOW 来说“猫追狗”和“狗追猫”是同一个上下文，所有梯度也都相同。word2vec 里仅有的位置信息"
        "来自求和之外："
        "哪些词落入窗口，以及随机窗口使近处的词更常被保留。Ling 等（2015）给每个位置各配一个矩阵，受益最多的是句法任"
        "务："
        "均值丢掉的正是语法。",
    ),
    sources=(
        "Mikolov et al. 2013a, §3.1",
        "Ling et al. 2015, Two/Too Simple Adaptations of Word2Vec for Syntax Problems",
    ),
    run=_run,
)

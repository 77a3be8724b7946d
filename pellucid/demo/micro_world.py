"""The smallest word-vector model: three words, 猫 吃 鱼 (cat, eats, fish), with two dimensions.

Word2Vec with a full softmax, as tutorials draw it: W_in is 3 × 2, W_out is 2 × 3, and a plain record holds every matrix
of every step. Each step is computed by the kernel that trains on real text (`word2vec/softmax.py`), on these matrices.

    CBOW        h = the mean of the context's rows of W_in; it predicts the centre
    skip-gram   h = one context's row of W_in; it predicts the centre, once for each context

    scores u = h W_out,  probabilities y = softmax(u),  loss = −ln y[target],  error e = y − onehot(target)
    ∂loss/∂W_out = hᵀ e,  ∂loss/∂h = e W_outᵀ,  and each row of W_in that is in h takes its share of that
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy
from numpy.typing import ArrayLike, NDArray

from pellucid.errors import UserError
from pellucid.randomness import generator
from pellucid.word_vectors.softmax import full_softmax_step

__all__ = ["DIM", "SENTENCE", "WORDS", "MicroStep", "initial_matrices", "micro_step", "micro_training"]

WORDS = ("猫", "吃", "鱼")
SENTENCE = (0, 1, 2)  # 猫 吃 鱼
DIM = 2

Matrix = NDArray[numpy.float64]
Model = Literal["cbow", "skip-gram"]


@dataclass(frozen=True, eq=False)
class MicroStep:
    """One update with all its matrices; `as_dict` labels their rows and columns.

    Attributes:
        step: counted from 1.
        model: cbow or skip-gram.
        context: the words that predict.
        target: the word to be predicted.
        one_hot: [context 3], selects rows of W_in.
        w_in: [3 2], before the update.
        w_out: [2 3], before the update.
        h: [2].
        scores: [3], u.
        probabilities: [3], y.
        error: [3], e.
        loss: nats.
        gradient_w_in: [3 2]; zero for words outside the context.
        gradient_w_out: [2 3].
        new_w_in, new_w_out: after the update: each minus rate · gradient.
        rate: the learning rate.
    """

    step: int
    model: Model
    context: tuple[str, ...]
    target: str
    one_hot: Matrix
    w_in: Matrix
    w_out: Matrix
    h: Matrix
    scores: Matrix
    probabilities: Matrix
    error: Matrix
    loss: float
    gradient_w_in: Matrix
    gradient_w_out: Matrix
    new_w_in: Matrix
    new_w_out: Matrix
    rate: float

    def as_dict(self) -> dict[str, Any]:
        """Convert to plain values; a matrix becomes a dict of named rows, each a dict of named numbers."""
        dimensions = [f"d{i + 1}" for i in range(DIM)]
        into, out = (WORDS, dimensions), (dimensions, WORDS)
        axes: dict[str, tuple[Sequence[str], ...]] = {
            "one_hot": (self.context, WORDS), "h": (dimensions,), "scores": (WORDS,), "probabilities": (WORDS,),
            "error": (WORDS,), "w_in": into, "gradient_w_in": into, "new_w_in": into,
            "w_out": out, "gradient_w_out": out, "new_w_out": out,
        }  # fmt: skip
        plain = {name: list(value) if name == "context" else value for name, value in vars(self).items()}
        return plain | {name: _labelled(plain[name], *labels) for name, labels in axes.items()}


def initial_matrices(seed: int = 1) -> tuple[Matrix, Matrix]:
    """Draw W_in [3 2] and W_out [2 3] uniformly from −0.5 to 0.5."""
    rng = generator(seed, "micro world")
    return rng.uniform(-0.5, 0.5, (len(WORDS), DIM)), rng.uniform(-0.5, 0.5, (DIM, len(WORDS)))


def micro_step(
    w_in: ArrayLike,
    w_out: ArrayLike,
    context: Sequence[int],
    target: int,
    *,
    model: Model = "cbow",
    rate: float = 0.5,
    step: int = 1,
) -> MicroStep:
    """Compute one update, without changing the matrices given; the context of skip-gram is one word.

    Raises:
        UserError: if the matrices have other shapes, or a word is not one of the three.
    """
    before_in, before_out = numpy.array(w_in, numpy.float64), numpy.array(w_out, numpy.float64)
    if before_in.shape != (len(WORDS), DIM) or before_out.shape != (DIM, len(WORDS)):
        raise UserError(
            f"expected W_in [3 2] and W_out [2 3], got {list(before_in.shape)} and {list(before_out.shape)}",
            where="w_in, w_out",
            hint="Start from `initial_matrices()`.",
        )
    if not context or not set(context) | {target} <= set(range(len(WORDS))) or (model != "cbow" and len(context) != 1):
        raise UserError(
            f"expected words from 0 to 2 (one in the context of skip-gram), got {context} and {target}",
            where="context, target",
            hint="Give words by their index in `WORDS`: 0 猫, 1 吃, 2 鱼.",
        )
    one_hot = numpy.eye(len(WORDS))[list(context)]
    h = (one_hot @ before_in).mean(axis=0)
    rows, change, probabilities = before_out.T.copy(), numpy.zeros(DIM), numpy.zeros(len(WORDS))
    loss = float(full_softmax_step(h, rows, target, rate, change, probabilities))
    share = one_hot.mean(axis=0)[:, None]  # how much of each row is in h
    gradient_in = -share * change
    error = probabilities - numpy.eye(len(WORDS))[target]
    return MicroStep(
        step=step,
        model=model,
        context=tuple(WORDS[word] for word in context),
        target=WORDS[target],
        one_hot=one_hot,
        w_in=before_in,
        w_out=before_out,
        h=h,
        scores=h @ before_out,
        probabilities=probabilities,
        error=error,
        loss=loss,
        gradient_w_in=gradient_in,
        gradient_w_out=numpy.outer(h, error),
        new_w_in=before_in - rate * gradient_in,
        new_w_out=rows.T.copy(),
        rate=rate,
    )


def micro_training(
    model: Model = "cbow",
    steps: int = 100,
    *,
    rate: float = 0.5,
    seed: int = 1,
    sentences: Sequence[Sequence[int]] = (SENTENCE,),
    matrices: tuple[ArrayLike, ArrayLike] | None = None,
) -> Iterator[MicroStep]:
    """Train on the sentences again and again, and yield every update.

    Each word of a sentence in turn is the centre and all others are its context: CBOW makes one update per centre,
    skip-gram one per context word.

    Args:
        sentences: words by index, 0 猫, 1 吃, 2 鱼; 猫 吃 鱼 by default.
        matrices: initial W_in and W_out; drawn from the seed by default.
    """
    w_in, w_out = matrices or initial_matrices(seed)
    examples: list[tuple[Sequence[int], int]] = []
    for sentence in sentences:
        for position, centre in enumerate(sentence):
            others = [word for other, word in enumerate(sentence) if other != position]
            examples += [(others, centre)] if model == "cbow" else [([word], centre) for word in others]
    if not any(context for context, _ in examples):
        raise UserError(
            "no sentence has two words, so there is no context to learn from",
            where="sentences",
            hint="Give at least one sentence of two words or more.",
        )
    for number in range(steps):
        context, centre = examples[number % len(examples)]
        record = micro_step(w_in, w_out, context, centre, model=model, rate=rate, step=number + 1)
        w_in, w_out = record.new_w_in, record.new_w_out
        yield record


def _labelled(array: Any, labels: Sequence[str], *inner: Sequence[str]) -> dict[str, Any]:
    parts = [_labelled(part, *inner) for part in array] if inner else array.tolist()
    return dict(zip(labels, parts, strict=True))

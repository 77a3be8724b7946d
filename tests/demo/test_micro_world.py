"""The micro world 猫/吃/鱼: hand-computed values with their derivation, and claims of tutorials."""

import math
from itertools import pairwise

import numpy
import pytest

from pellucid.demo.micro_world import WORDS, MicroStep, initial_matrices, micro_step, micro_training
from pellucid.errors import UserError

W_IN = [[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]]  # 猫, 吃, 鱼
W_OUT = [[math.log(2), 0.0, 0.0], [0.0, math.log(4), 0.0]]  # d1, d2; columns 猫, 吃, 鱼


def test_a_cbow_step_by_hand() -> None:
    """猫 and 鱼 predict 吃, rate 1/2.

    h = ((1, 0) + (0, 2)) / 2 = (1/2, 1).
    u = h W_out = (½ ln 2, ln 4, 0), so e^u = (√2, 4, 1), whose sum is 5 + √2 =: S.
    y = (√2, 4, 1)/S; loss = ln(S/4). e = y − (0, 1, 0).
    ∂/∂W_out = hᵀ e: its first row is e/2, its second e.
    ∂/∂h = e W_outᵀ = (e₁ ln 2, e₂ ln 4); 猫 and 鱼 take half of it each, 吃 nothing.
    """
    step = micro_step(W_IN, W_OUT, [0, 2], 1, rate=0.5)
    s = 5 + math.sqrt(2)
    y = numpy.array([math.sqrt(2), 4, 1]) / s
    e = y - [0, 1, 0]
    by_h = numpy.array([e[0] * math.log(2), e[1] * math.log(4)])
    assert step.h.tolist() == [0.5, 1]
    assert step.scores == pytest.approx([math.log(2) / 2, math.log(4), 0])
    assert step.probabilities == pytest.approx(y)
    assert step.loss == pytest.approx(math.log(s / 4))
    assert step.error == pytest.approx(e)
    assert step.gradient_w_out == pytest.approx(numpy.array([e / 2, e]))
    assert step.gradient_w_in == pytest.approx(numpy.array([by_h / 2, [0, 0], by_h / 2]))
    assert step.new_w_in == pytest.approx(W_IN - 0.5 * step.gradient_w_in)
    assert step.new_w_out == pytest.approx(W_OUT - 0.5 * step.gradient_w_out)


def test_a_skip_gram_step_by_hand() -> None:
    """鱼 predicts 吃, rate 1: h = (0, 2), u = (0, 2 ln 4, 0), e^u = (1, 16, 1), y = (1, 16, 1)/18, loss = ln(18/16).

    e = (1, −2, 1)/18; hᵀ e has the rows 0 and 2e; e W_outᵀ = (e₁ ln 2, e₂ ln 4), all of which is 鱼's.
    """
    step = micro_step(W_IN, W_OUT, [2], 1, model="skip-gram", rate=1.0)
    assert step.probabilities == pytest.approx(numpy.array([1, 16, 1]) / 18)
    assert step.loss == pytest.approx(math.log(18 / 16))
    assert step.gradient_w_out == pytest.approx(numpy.array([[0, 0, 0], [2 / 18, -4 / 18, 2 / 18]]))
    assert step.gradient_w_in == pytest.approx(numpy.array([[0, 0], [0, 0], [math.log(2) / 18, -2 / 18 * math.log(4)]]))


@pytest.mark.parametrize("model", ["cbow", "skip-gram"])
def test_every_gradient_equals_finite_differences(model: str) -> None:
    context = [0, 2] if model == "cbow" else [0]
    w_in, w_out = initial_matrices(3)
    step = micro_step(w_in, w_out, context, 1, model=model)  # type: ignore[arg-type]
    for matrix, gradient in ((w_in, step.gradient_w_in), (w_out, step.gradient_w_out)):
        for place in numpy.ndindex(matrix.shape):
            kept, around = matrix[place], []
            for change in (1e-6, -1e-6):
                matrix[place] = kept + change
                around.append(micro_step(w_in, w_out, context, 1, model=model).loss)  # type: ignore[arg-type]
            matrix[place] = kept
            assert (around[0] - around[1]) / 2e-6 == pytest.approx(gradient[place], abs=1e-7)


def test_training_makes_the_middle_word_certain() -> None:
    steps = list(micro_training("cbow", 3000))
    middle = [step for step in steps if step.target == "吃"]
    assert middle[-1].context == ("猫", "鱼")
    assert middle[0].probabilities[1] < 0.5
    assert middle[-1].probabilities[1] > 0.99


def test_two_words_equally_often_become_equally_likely() -> None:
    """吃 is beside 猫 as often as beside 鱼: the best that skip-gram can do is one half each."""
    steps = [step for step in micro_training("skip-gram", 6000, rate=0.05) if step.context == ("吃",)]
    assert steps[-1].probabilities == pytest.approx([0.5, 0, 0.5], abs=0.05)


def test_a_step_starts_where_the_previous_one_ended_and_is_labelled() -> None:
    steps: list[MicroStep] = list(micro_training("skip-gram", 5))
    for one, next_one in pairwise(steps):
        assert numpy.array_equal(one.new_w_in, next_one.w_in) and numpy.array_equal(one.new_w_out, next_one.w_out)
    record = steps[0].as_dict()
    assert list(record["w_in"]) == list(WORDS) and list(record["w_out"]["d1"]) == list(WORDS)
    assert record["w_in"]["鱼"]["d2"] == steps[0].w_in[2, 1]
    assert record["one_hot"] == {"吃": {"猫": 0.0, "吃": 1.0, "鱼": 0.0}}


def test_invalid_matrices_and_words_are_rejected() -> None:
    with pytest.raises(UserError, match=r"expected W_in \[3 2\]"):
        micro_step([[1.0]], W_OUT, [0], 1)
    for context, target in (([], 1), ([3], 1), ([0], -1)):
        with pytest.raises(UserError, match="expected words from 0 to 2"):
            micro_step(W_IN, W_OUT, context, target)
    with pytest.raises(UserError, match="no sentence has two words"):
        next(micro_training(sentences=[[1]]))

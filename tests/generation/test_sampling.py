"""The draw of one token, each part against what its definition says."""

import math

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pellucid.generation.sampling import (
    Distribution,
    apply_repetition_penalty,
    greedy,
    log_normaliser,
    sample,
    sampling_distribution,
)
from pellucid.generation.sampling_config import SamplingConfig

LOGITS = st.lists(st.floats(-20, 20, width=16), min_size=1, max_size=12).map(
    lambda values: numpy.array(values, dtype=numpy.float32)
)


def logits_of(*probabilities: float) -> NDArray[numpy.float32]:
    return numpy.log(numpy.array(probabilities, dtype=numpy.float32))


def drawn_from(logits: NDArray[numpy.float32], **settings: float) -> dict[int, float]:
    config = SamplingConfig.model_validate({"temperature": 1.0, **settings})
    found = sampling_distribution(logits, config)
    return dict(zip(found.ids.tolist(), found.probabilities.tolist(), strict=True))


def plainly(logits: list[float], temperature: float, top_k: int, top_p: float, min_p: float) -> dict[int, float]:
    """Sort, cut, make it sum to 1 again: the definition, without arrays."""
    highest = max(logits)
    weights = {i: math.exp((logit - highest) / temperature) for i, logit in enumerate(logits)}

    def normalised(weights: dict[int, float]) -> dict[int, float]:
        total = sum(weights.values())
        return {i: weight / total for i, weight in weights.items()}

    kept = normalised(weights)
    if top_k:
        kept = normalised(dict(sorted(kept.items(), key=lambda item: (-item[1], item[0]))[:top_k]))
    if top_p < 1:
        chosen: dict[int, float] = {}
        for i, probability in sorted(kept.items(), key=lambda item: (-item[1], item[0])):
            if chosen and sum(chosen.values()) >= top_p - 1e-6:
                break
            chosen[i] = probability
        kept = normalised(chosen)
    best = max(kept.values())
    return normalised({i: probability for i, probability in sorted(kept.items()) if probability >= min_p * best})


@given(
    LOGITS,
    st.sampled_from([0.3, 1.0, 2.5]),
    st.integers(0, 14),
    st.floats(0, 1).map(lambda share: round(share, 3) + 0.0004),
    st.floats(0, 0.99).map(lambda share: round(share, 3) + 0.0004),
)
def test_the_cuts_are_those_of_the_definition(
    logits: NDArray[numpy.float32], temperature: float, top_k: int, top_p: float, min_p: float
) -> None:
    settings = {"temperature": temperature, "top_k": top_k, "top_p": min(top_p, 1.0), "min_p": min_p}
    expected = plainly(logits.tolist(), temperature, top_k, min(top_p, 1.0), min_p)
    assert drawn_from(logits, **settings) == pytest.approx(expected)


@given(LOGITS)
def test_without_cuts_the_draw_is_from_what_the_model_says(logits: NDArray[numpy.float32]) -> None:
    found = drawn_from(logits)
    normaliser = log_normaliser(logits)
    assert list(found) == list(range(len(logits)))
    assert [math.log(value) if value else -math.inf for value in found.values()] == pytest.approx(
        [float(logit) - normaliser for logit in logits],
        abs=1e-5,  # logits are float32
    )


@given(LOGITS)
def test_the_limit_of_a_low_temperature_is_greedy(logits: NDArray[numpy.float32]) -> None:
    best = logits == logits.max()
    if best.sum() == 1:
        found = sampling_distribution(logits, SamplingConfig(temperature=5e-324))
        assert sample(found, 0.999999) == sample(greedy(logits), 0.0) == int(best.argmax())


def test_greedy_takes_the_lowest_id_of_equals() -> None:
    assert greedy(numpy.array([0, 2, 2], dtype=numpy.float32)).ids.tolist() == [1]
    assert drawn_from(numpy.array([0, 2, 2], dtype=numpy.float32), temperature=0) == {1: 1.0}


def test_of_equals_at_the_border_of_top_k_the_first_stay() -> None:
    assert list(drawn_from(logits_of(0.2, 0.2, 0.4, 0.2), top_k=2)) == [0, 2]


@pytest.mark.parametrize("cut", [{"top_p": 0.0}, {"top_k": 1}, {"min_p": 1.0}, {"top_p": 1e-9}])
def test_the_sharpest_cut_leaves_the_most_probable(cut: dict[str, float]) -> None:
    assert drawn_from(logits_of(0.3, 0.5, 0.2), **cut) == {1: 1.0}


def test_what_is_forbidden_is_never_drawn() -> None:
    logits = numpy.array([-numpy.inf, 1.0, -numpy.inf, 1.0, -numpy.inf], dtype=numpy.float32)
    found = sampling_distribution(logits, SamplingConfig(temperature=1.0))
    assert {sample(found, number) for number in (0.0, 0.4999, 0.5, 0.999999, math.nextafter(1, 0))} == {1, 3}
    assert (found.log_prob(1), found.log_prob(0)) == (math.log(0.5), -math.inf)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8).filter(any))
def test_each_number_stands_for_as_much_as_the_token_is_probable(weights: list[int]) -> None:
    total = sum(weights)
    found = Distribution(numpy.arange(len(weights)) * 3, numpy.array(weights) / total)
    drawn = [sample(found, (place + 0.5) / total) for place in range(total)]
    assert [drawn.count(3 * i) for i in range(len(weights))] == weights


def test_the_probability_of_what_cannot_be_drawn_is_0() -> None:
    found = Distribution(numpy.array([2, 5]), numpy.array([0.25, 0.75]))
    assert [found.log_prob(i) for i in (1, 3, 9)] == [-math.inf] * 3
    assert found.log_prob(5) == pytest.approx(math.log(0.75))


def test_a_penalty_divides_positive_logits_and_multiplies_negative_ones_once() -> None:
    logits = numpy.array([2.0, -2.0, 3.0, 0.0], dtype=numpy.float32)
    assert apply_repetition_penalty(logits, [0, 0, 0, 1, 3], 2.0).tolist() == [1.0, -4.0, 3.0, 0.0]
    assert apply_repetition_penalty(logits, [], 2.0).tolist() == logits.tolist() == [2.0, -2.0, 3.0, 0.0]


@pytest.mark.parametrize("penalty", [1e308, 1e-308])
def test_a_penalty_beyond_what_float32_holds_leaves_finite_logits(penalty: float) -> None:
    logits = numpy.array([2.0, -2.0, 3.0, 0.0], dtype=numpy.float32)
    found = apply_repetition_penalty(logits, [0, 1], penalty)
    assert numpy.isfinite(found).all()
    assert (found[0] > found[1]) == (penalty < 1) or found[0] == 0
    probabilities = sampling_distribution(found, SamplingConfig()).probabilities
    assert probabilities.sum() == pytest.approx(1)


@pytest.mark.parametrize(("vocab_size", "top_k"), [(9, 7), (11, 10), (200, 49)])
def test_among_equals_the_sharpest_top_p_leaves_the_first(vocab_size: int, top_k: int) -> None:
    logits = numpy.zeros(vocab_size, dtype=numpy.float32)
    assert drawn_from(logits, top_k=top_k, top_p=0.0) == {0: 1.0}

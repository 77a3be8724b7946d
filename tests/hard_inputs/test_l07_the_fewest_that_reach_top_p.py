"""L7: p = .3 .1 .1 .5 and top_p .8. Elsewhere three tokens stay; .5 and .3 reach .8, though not in float32."""

import numpy
import pytest

from pellucid.generation.sampling import sampling_distribution
from pellucid.generation.sampling_config import SamplingConfig


@pytest.mark.parametrize(
    ("probabilities", "top_p", "kept"),
    [
        ([0.3, 0.1, 0.1, 0.5], 0.8, {0: 0.375, 3: 0.625}),
        ([0.5, 0.3, 0.1, 0.1], 0.8, {0: 0.625, 1: 0.375}),
        ([0.1] * 10, 0.3, {0: 1 / 3, 1: 1 / 3, 2: 1 / 3}),
        ([0.7, 0.2, 0.1], 0.9, {0: 7 / 9, 1: 2 / 9}),
        ([0.7, 0.2, 0.1], 0.91, {0: 0.7, 1: 0.2, 2: 0.1}),
    ],
)
def test_the_fewest_that_reach_it_stay(probabilities: list[float], top_p: float, kept: dict[int, float]) -> None:
    logits = numpy.log(numpy.array(probabilities, dtype=numpy.float32)) + numpy.float32(3)
    found = sampling_distribution(logits, SamplingConfig(temperature=1.0, top_p=top_p))
    assert dict(zip(found.ids.tolist(), found.probabilities.tolist(), strict=True)) == pytest.approx(kept)

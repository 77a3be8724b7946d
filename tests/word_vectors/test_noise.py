import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.word_vectors.noise import NoiseTable, build_noise_table

UNITS = 2.0**32


def probabilities(noise: NoiseTable, size: int) -> list[float]:
    """Return how often a word comes out, by the table alone: groups drawn evenly, then members, then chances."""
    groups = len(noise.entries)
    drawn = numpy.zeros(groups)
    for group in range(groups):
        own = float(noise.entries[group, 0]) / UNITS
        drawn[group] += own / groups
        drawn[noise.entries[group, 1]] += (1 - own) / groups
    accepted = noise.accept.reshape(groups, size) / UNITS
    shares = drawn[:, None] * accepted / size
    flat: list[float] = (shares / shares.sum()).reshape(-1).tolist()
    return flat


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=40), st.sampled_from([1, 2, 3, 8]), st.floats(-1, 1))
def test_words_are_drawn_by_their_counts_to_a_power(counts: list[int], size: int, exponent: float) -> None:
    counts = sorted(counts, reverse=True)
    found = probabilities(build_noise_table(counts, exponent, size), size)
    weights = numpy.array(counts, float) ** exponent
    # A table's entries have 32 bits.
    assert found[: len(counts)] == pytest.approx((weights / weights.sum()).tolist(), rel=1e-6)
    assert not any(found[len(counts) :])


def test_words_that_do_not_occur_are_never_drawn() -> None:
    found = probabilities(build_noise_table([5, 0, 3, 0, 0, 0], 0.75, 2), 2)
    assert [share > 0 for share in found] == [True, False, True, False, False, False]

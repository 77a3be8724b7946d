"""Positions: codes added to embeddings, turns of queries and keys, biases added to scores."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from pellucid.errors import UserError
from pellucid.layers.positions import AlibiBias, LearnedEncoding, NoEncoding, SinusoidalEncoding, no_bias, sinusoids
from pellucid.layers.rotary import Rotary, no_rotation, rotary_frequencies


def test_sinusoids_are_those_of_the_paper() -> None:
    """d_model 4 has the frequencies 1 and 1/100; at position 3 the angles are 3 and 0.03 radians."""
    table = sinusoids(torch.tensor([0, 1, 3]), 4)
    expected = [
        [0.0, 1.0, 0.0, 1.0],
        [0.8414709848078965, 0.5403023058681398, 0.009999833334166664, 0.9999500004166653],
        [0.1411200080598672, -0.9899924966004454, 0.02999550020249566, 0.9995500337489875],
    ]
    torch.testing.assert_close(table, torch.tensor(expected, dtype=torch.float64), atol=1e-15, rtol=0)


@given(st.integers(0, 100_000), st.integers(1, 64))
def test_sinusoids_are_interleaved_sine_and_cosine(position: int, half: int) -> None:
    code = sinusoids(torch.tensor([position]), 2 * half)[0]
    for i in range(half):
        angle = position / 10_000 ** (2 * i / (2 * half))
        assert abs(code[2 * i].item() - math.sin(angle)) < 1e-9  # angles up to 1e5 carry 1e-11 of rounding
        assert abs(code[2 * i + 1].item() - math.cos(angle)) < 1e-9


def test_sinusoidal_codes_exist_beyond_the_first_table() -> None:
    codes = SinusoidalEncoding(8)
    for positions in (torch.arange(3), torch.arange(700), torch.tensor([5000]), torch.arange(2)):
        found = codes(positions, int(positions[-1]) + 1)
        torch.testing.assert_close(found, sinusoids(positions, 8).float(), atol=0, rtol=0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64], ids=str)
def test_tables_that_grow_keep_the_models_precision(dtype: torch.dtype) -> None:
    assert SinusoidalEncoding(8).to(dtype)(torch.arange(600), 600).dtype == dtype
    rotary = Rotary(rotary_frequencies(8, 1000.0)).to(dtype)
    rotary(torch.zeros(1, 1, 600, 8, dtype=dtype), torch.arange(600))
    assert rotary.cosines.dtype == rotary.sines.dtype == dtype


@pytest.mark.parametrize(
    "codes", [SinusoidalEncoding(8), Rotary(rotary_frequencies(8, 1000.0))], ids=["sinusoidal", "rope"]
)
def test_tables_that_grow_in_a_validation_serve_training_afterwards(codes: torch.nn.Module) -> None:
    x = torch.ones(1, 1, 600, 8, requires_grad=True)
    with torch.inference_mode():
        used(codes, x, torch.arange(600))
    used(codes, x, torch.arange(600)).square().sum().backward()
    assert x.grad is not None
    assert x.grad.isfinite().all()


def used(codes: torch.nn.Module, x: Tensor, positions: Tensor) -> Tensor:
    used: Tensor = codes(x, positions) if isinstance(codes, Rotary) else x * codes(positions, len(positions))
    return used


@pytest.mark.parametrize(
    "codes", [SinusoidalEncoding(8), LearnedEncoding(8, 600), NoEncoding()], ids=lambda c: type(c).__name__
)
def test_codes_are_given_without_waiting_for_the_device(codes: torch.nn.Module) -> None:
    """Nothing can be read from the meta device."""
    with torch.device("meta"):
        positions = torch.arange(600)
    assert codes.to("meta")(positions, 600).shape in {(600, 8), ()}


def test_tables_are_not_saved_with_the_weights() -> None:
    for part in (SinusoidalEncoding(8), Rotary(rotary_frequencies(8, 1000.0)), AlibiBias(4)):
        assert not part.state_dict()


def test_learned_codes_end_where_the_table_ends() -> None:
    codes = LearnedEncoding(8, max_positions=10)
    assert torch.equal(codes(torch.arange(10), 10), codes.weight)
    with pytest.raises(UserError, match=r"11 tokens.*10 positions") as caught:
        codes(torch.arange(11), 11)
    assert "model.max_positions" in caught.value.hint


def test_no_codes_add_nothing() -> None:
    x = torch.randn(2, 3, 4)
    assert torch.equal(x + NoEncoding()(torch.arange(3), 3), x)
    assert no_bias(torch.arange(3), torch.arange(3)) is None  # type: ignore[func-returns-value]
    heads = torch.randn(1, 2, 3, 4)
    assert no_rotation(heads, torch.arange(3)) is heads


def test_rotary_turns_each_pair_by_position_times_frequency() -> None:
    """d_head 4, base 100: pair (0, 2) turns by 1 a position, pair (1, 3) by 1/10."""
    x = torch.tensor([[[[1.0, 2.0, 0.0, 0.0]]]])
    turned = Rotary(rotary_frequencies(4, 100.0))(x, torch.tensor([3]))[0, 0, 0]
    expected = torch.tensor([math.cos(3), 2 * math.cos(0.3), math.sin(3), 2 * math.sin(0.3)])
    torch.testing.assert_close(turned, expected)


vectors = st.lists(st.floats(-3, 3, width=32), min_size=8, max_size=8).map(
    lambda numbers: torch.tensor(numbers)[None, None, None]
)


@given(vectors, vectors, st.integers(0, 200), st.integers(0, 200), st.integers(0, 500))
def test_a_turned_product_sees_only_how_far_apart_the_two_are(q: Tensor, k: Tensor, m: int, n: int, shift: int) -> None:
    """⟨turn(q, m), turn(k, n)⟩ = ⟨turn(q, m + s), turn(k, n + s)⟩, to the rounding of eight products up to 9."""
    rotary = Rotary(rotary_frequencies(8, 1000.0))

    def product(m: int, n: int) -> float:
        return float((rotary(q, torch.tensor([m])) * rotary(k, torch.tensor([n]))).sum())

    assert abs(product(m, n) - product(m + shift, n + shift)) < 1e-4


@given(vectors, st.integers(0, 3000))
def test_turning_keeps_lengths_and_position_zero_keeps_all(x: Tensor, position: int) -> None:
    rotary = Rotary(rotary_frequencies(8, 1000.0))
    torch.testing.assert_close(rotary(x, torch.tensor([position])).norm(), x.norm(), atol=1e-5, rtol=1e-5)
    assert torch.equal(rotary(x, torch.tensor([0])), x)


def test_rotary_exists_beyond_the_first_table() -> None:
    x = torch.randn(1, 2, 1, 8, generator=torch.Generator().manual_seed(1))
    far = Rotary(rotary_frequencies(8, 1000.0))(x, torch.tensor([4000]))
    angles = 4000 * 1000.0 ** (-torch.arange(0, 8, 2, dtype=torch.float64) / 8)
    first, second = x.double().chunk(2, dim=-1)
    expected = torch.cat(
        (first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()), dim=-1
    )
    torch.testing.assert_close(far, expected.float(), atol=1e-6, rtol=1e-6)


def test_linear_bias_has_the_slopes_of_the_paper() -> None:
    """Eight heads have the slopes 1/2, 1/4, …, 1/256 (Press et al. 2022, §3)."""
    bias = AlibiBias(8)(torch.arange(4), torch.arange(4))
    assert bias[:, 1, 0].tolist() == [-(0.5 ** (head + 1)) for head in range(8)]
    assert bias[0].tolist() == [[-abs(i - j) / 2 for j in range(4)] for i in range(4)]


def test_linear_bias_sees_positions_not_places_in_the_tensor() -> None:
    bias = AlibiBias(2)(torch.tensor([7, 7]), torch.tensor([0, 0, 5, 5, 7]))
    assert (bias[0] / AlibiBias(2).slopes[0]).tolist() == [[-7, -7, -2, -2, 0]] * 2


@pytest.mark.parametrize(
    "codes", [SinusoidalEncoding(8), LearnedEncoding(8, 9), Rotary(rotary_frequencies(8, 100.0)), AlibiBias(2)]
)
def test_sequences_of_a_batch_may_each_have_their_own_positions(codes: torch.nn.Module) -> None:
    """Each row is what it is alone with its positions."""
    positions = torch.tensor([[0, 1, 2], [0, 0, 1], [6, 7, 8]])
    x = torch.randn(3, 2, 3, 8, generator=torch.Generator().manual_seed(1))
    if isinstance(codes, Rotary):
        together = codes(x, positions)
        alone = torch.cat([codes(x[row : row + 1], positions[row]) for row in range(3)])
    elif isinstance(codes, AlibiBias):
        together = codes(positions, positions)
        alone = torch.stack([codes(row, row) for row in positions])
    else:
        together = codes(positions, 9)
        alone = torch.stack([codes(row, 9) for row in positions])
    assert torch.equal(together, alone)

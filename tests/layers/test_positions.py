"""Position schemes: encodings added to embeddings, rotations of queries and keys, biases added to scores."""

import math
from typing import get_args

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from pellucid.errors import UserError
from pellucid.layers.position_scheme import PositionScheme, position_limit
from pellucid.layers.positions import (
    AlibiBias,
    AttentionPositions,
    LearnedEncoding,
    PositionEncoding,
    Rotary,
    SinusoidalEncoding,
    build_attention_positions,
    build_position_encoding,
    sinusoids,
)
from pellucid.layers.rotary import rotary_frequencies

SCHEMES: tuple[PositionScheme, ...] = get_args(PositionScheme)
ROTARY = Rotary(rotary_frequencies(8, 1000.0))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_tells_positions_apart_in_at_most_one_place_and_names_itself(scheme: PositionScheme) -> None:
    encoding = build_position_encoding(scheme, 8, learned_positions=10)
    attention = build_attention_positions(scheme, 2, rotary_frequencies(4, 100.0))
    assert {encoding.kind, attention.kind} - {"none"} == {scheme} - {"none"}
    tables = [table for table in (encoding.table(5), attention.table(5)) if table is not None]
    assert len(tables) == (scheme != "none")
    for table in tables:
        assert table.values.ndim == len(table.axes)
        assert table.values.dtype == torch.float64
    assert position_limit(scheme, 10) == (10 if scheme == "learned" else None)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_unrotating_undoes_rotating(scheme: PositionScheme) -> None:
    attention = build_attention_positions(scheme, 2, rotary_frequencies(4, 100.0))
    x, positions = torch.randn(1, 2, 6, 4, generator=torch.Generator().manual_seed(1)), torch.arange(6)
    torch.testing.assert_close(attention.unrotate(attention.rotate(x, positions), positions), x)


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


def test_sinusoidal_encodings_exist_beyond_the_first_table() -> None:
    encoding = SinusoidalEncoding(8)
    for positions in (torch.arange(3), torch.arange(700), torch.tensor([5000]), torch.arange(2)):
        found = encoding(positions, int(positions[-1]) + 1)
        torch.testing.assert_close(found, sinusoids(positions, 8).float(), atol=0, rtol=0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64], ids=str)
def test_tables_that_grow_keep_the_models_precision(dtype: torch.dtype) -> None:
    assert SinusoidalEncoding(8).to(dtype)(torch.arange(600), 600).dtype == dtype
    rotary = Rotary(rotary_frequencies(8, 1000.0)).to(dtype)
    rotary.rotate(torch.zeros(1, 1, 600, 8, dtype=dtype), torch.arange(600))
    assert rotary.cosines.dtype == rotary.sines.dtype == dtype


@pytest.mark.parametrize("module", [SinusoidalEncoding(8), ROTARY], ids=["sinusoidal", "rope"])
def test_tables_that_grow_in_a_validation_serve_training_afterwards(module: torch.nn.Module) -> None:
    x = torch.ones(1, 1, 600, 8, requires_grad=True)
    with torch.inference_mode():
        used(module, x, torch.arange(600))
    used(module, x, torch.arange(600)).square().sum().backward()
    assert x.grad is not None
    assert x.grad.isfinite().all()


def used(module: torch.nn.Module, x: Tensor, positions: Tensor) -> Tensor:
    used: Tensor = module.rotate(x, positions) if isinstance(module, Rotary) else x * module(positions, len(positions))
    return used


@pytest.mark.parametrize("scheme", SCHEMES)
def test_encodings_are_looked_up_without_waiting_for_the_device(scheme: PositionScheme) -> None:
    """Nothing can be read from the meta device."""
    with torch.device("meta"):
        positions = torch.arange(600)
    assert build_position_encoding(scheme, 8, 600).to("meta")(positions, 600).shape in {(600, 8), ()}


def test_tables_are_not_saved_with_the_weights() -> None:
    for part in (SinusoidalEncoding(8), ROTARY, AlibiBias(4)):
        assert not part.state_dict()


def test_learned_encodings_end_where_the_table_ends() -> None:
    encoding = LearnedEncoding(8, learned_positions=10)
    assert torch.equal(encoding(torch.arange(10), 10), encoding.weight)
    with pytest.raises(UserError, match=r"11 tokens.*10 learned positions") as caught:
        encoding(torch.arange(11), 11)
    assert caught.value.where == ("model.positions",)


def test_no_encodings_add_nothing() -> None:
    x = torch.randn(2, 3, 4)
    assert torch.equal(x + PositionEncoding()(torch.arange(3), 3), x)
    assert AttentionPositions().score_bias(torch.arange(3), torch.arange(3)) is None
    heads = torch.randn(1, 2, 3, 4)
    assert AttentionPositions().rotate(heads, torch.arange(3)) is heads


def test_rotary_rotates_each_pair_by_position_times_frequency() -> None:
    """d_head 4, base 100: pair (0, 2) rotates by 1 per position, pair (1, 3) by 1/10."""
    x = torch.tensor([[[[1.0, 2.0, 0.0, 0.0]]]])
    rotated = Rotary(rotary_frequencies(4, 100.0)).rotate(x, torch.tensor([3]))[0, 0, 0]
    expected = torch.tensor([math.cos(3), 2 * math.cos(0.3), math.sin(3), 2 * math.sin(0.3)])
    torch.testing.assert_close(rotated, expected)


vectors = st.lists(st.floats(-3, 3, width=32), min_size=8, max_size=8).map(
    lambda numbers: torch.tensor(numbers)[None, None, None]
)


@given(vectors, vectors, st.integers(0, 200), st.integers(0, 200), st.integers(0, 500))
def test_a_rotated_product_sees_only_how_far_apart_the_two_are(
    q: Tensor, k: Tensor, m: int, n: int, shift: int
) -> None:
    """⟨rotate(q, m), rotate(k, n)⟩ = ⟨rotate(q, m + s), rotate(k, n + s)⟩,
    to the rounding of eight products up to 9."""

    def product(m: int, n: int) -> float:
        return float((ROTARY.rotate(q, torch.tensor([m])) * ROTARY.rotate(k, torch.tensor([n]))).sum())

    assert abs(product(m, n) - product(m + shift, n + shift)) < 1e-4


@given(vectors, st.integers(0, 3000))
def test_rotating_keeps_lengths_and_position_zero_keeps_all(x: Tensor, position: int) -> None:
    torch.testing.assert_close(ROTARY.rotate(x, torch.tensor([position])).norm(), x.norm(), atol=1e-5, rtol=1e-5)
    assert torch.equal(ROTARY.rotate(x, torch.tensor([0])), x)


def test_rotary_exists_beyond_the_first_table() -> None:
    x = torch.randn(1, 2, 1, 8, generator=torch.Generator().manual_seed(1))
    far = Rotary(rotary_frequencies(8, 1000.0)).rotate(x, torch.tensor([4000]))
    angles = 4000 * 1000.0 ** (-torch.arange(0, 8, 2, dtype=torch.float64) / 8)
    first, second = x.double().chunk(2, dim=-1)
    expected = torch.cat(
        (first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()), dim=-1
    )
    torch.testing.assert_close(far, expected.float(), atol=1e-6, rtol=1e-6)


def test_linear_bias_has_the_slopes_of_the_paper() -> None:
    """Eight heads have the slopes 1/2, 1/4, …, 1/256 (Press et al. 2022, §3)."""
    bias = AlibiBias(8).score_bias(torch.arange(4), torch.arange(4))
    assert bias[:, 1, 0].tolist() == [-(0.5 ** (head + 1)) for head in range(8)]
    assert bias[0].tolist() == [[-abs(i - j) / 2 for j in range(4)] for i in range(4)]


def test_linear_bias_sees_positions_not_places_in_the_tensor() -> None:
    bias = AlibiBias(2).score_bias(torch.tensor([7, 7]), torch.tensor([0, 0, 5, 5, 7]))
    assert (bias[0] / AlibiBias(2).slopes[0]).tolist() == [[-7, -7, -2, -2, 0]] * 2


@pytest.mark.parametrize(
    "module", [SinusoidalEncoding(8), LearnedEncoding(8, 9), Rotary(rotary_frequencies(8, 100.0)), AlibiBias(2)]
)
def test_sequences_of_a_batch_may_each_have_their_own_positions(module: torch.nn.Module) -> None:
    """Each row is what it is alone with its positions."""
    positions = torch.tensor([[0, 1, 2], [0, 0, 1], [6, 7, 8]])
    x = torch.randn(3, 2, 3, 8, generator=torch.Generator().manual_seed(1))
    if isinstance(module, Rotary):
        together = module.rotate(x, positions)
        alone = torch.cat([module.rotate(x[row : row + 1], positions[row]) for row in range(3)])
    elif isinstance(module, AlibiBias):
        together = module.score_bias(positions, positions)
        alone = torch.stack([module.score_bias(row, row) for row in positions])
    else:
        together = module(positions, 9)
        alone = torch.stack([module(row, 9) for row in positions])
    assert torch.equal(together, alone)

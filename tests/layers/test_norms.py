"""Norms against their plain formulas."""

import pytest
import torch

from pellucid.layers.norms import NORMS, RMSNorm


def drawn() -> torch.Tensor:
    return torch.randn(3, 5, 8, generator=torch.Generator().manual_seed(1)) * 7 + 2


def test_rmsnorm_divides_by_the_root_of_the_mean_square() -> None:
    norm = RMSNorm(8)
    with torch.no_grad():
        norm.weight.copy_(torch.arange(8.0))
    x = drawn()
    mean_square = sum(x[..., i].double() ** 2 for i in range(8)) / 8
    assert isinstance(mean_square, torch.Tensor)
    expected = x.double() / (mean_square + 1e-6).sqrt()[..., None] * torch.arange(8.0)
    torch.testing.assert_close(norm(x), expected.float(), atol=1e-6, rtol=1e-6)


def test_rmsnorm_of_nothing_is_nothing() -> None:
    assert torch.equal(RMSNorm(4)(torch.zeros(1, 2, 4)), torch.zeros(1, 2, 4))


def test_rmsnorm_in_bfloat16_is_computed_in_float32() -> None:
    x = drawn().bfloat16()
    norm = RMSNorm(8)
    assert norm(x).dtype == torch.bfloat16
    assert torch.equal(norm(x), norm(x.float()).bfloat16())


def test_layernorm_takes_the_mean_off_and_divides_by_the_deviation() -> None:
    x = drawn()
    deviation = ((x - x.mean(-1, keepdim=True)).square().mean(-1, keepdim=True) + 1e-5).sqrt()
    torch.testing.assert_close(NORMS["layernorm"](8)(x), (x - x.mean(-1, keepdim=True)) / deviation)


@pytest.mark.parametrize("norm", NORMS)
def test_the_epsilon_is_what_is_given(norm: str) -> None:
    """Of a vector of 1 and −1, whose mean square and variance are 1, with epsilon 3 half is left."""
    x = torch.tensor([[1.0, -1.0]])
    torch.testing.assert_close(NORMS[norm](2, 3.0)(x), x / 2)

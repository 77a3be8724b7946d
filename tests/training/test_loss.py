from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from pellucid.training import loss as loss_module
from pellucid.training.loss import cross_entropy, guided_alignment


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("rows", [1, 3, 1024])
def test_the_fused_loss_and_its_gradients_are_those_of_the_plain_one(
    smoothing: float, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss_module, "ROWS", rows)
    random = torch.Generator().manual_seed(1)
    states = torch.randn(7, 12, generator=random, requires_grad=True)
    weight = torch.randn(19, 12, generator=random, requires_grad=True)
    targets = torch.randint(0, 19, (7,), generator=random)

    expected = F.cross_entropy(states @ weight.T, targets, label_smoothing=smoothing, reduction="sum")
    expected_gradients = torch.autograd.grad(expected * 0.3, (states, weight))
    fused, plain = cross_entropy(states, weight, targets, smoothing, torch.float32)
    gradients = torch.autograd.grad(fused * 0.3, (states, weight))

    # float32 sums of 19 × 12 products in another order
    torch.testing.assert_close(fused, expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(plain, F.cross_entropy(states @ weight.T, targets, reduction="sum"), rtol=1e-5, atol=0)
    for found, wanted in zip(gradients, expected_gradients, strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


def products(work: Callable[[], object]) -> int:
    """Count the matrix products of some work."""
    with torch.autograd.profiler.profile() as seen:
        work()
    return sum(event.name == "aten::mm" for event in seen.function_events)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_without_gradients_only_the_logits_are_multiplied_and_the_loss_is_the_same(
    smoothing: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss_module, "ROWS", 3)
    random = torch.Generator().manual_seed(1)
    states = torch.randn(7, 12, generator=random, requires_grad=True)
    weight = torch.randn(19, 12, generator=random, requires_grad=True)
    targets = torch.randint(0, 19, (7,), generator=random)

    def loss(states: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return cross_entropy(states, weight, targets, smoothing, torch.float32)

    assert products(lambda: loss(states, weight)) == 9
    assert products(lambda: loss(states.detach(), weight.detach())) == 3
    with torch.no_grad():
        assert products(lambda: loss(states, weight)) == 3
        found = loss(states, weight)
    assert [value.item() for value in found] == [value.item() for value in loss(states, weight)]


def test_the_plain_loss_has_no_gradient() -> None:
    states = torch.randn(2, 4, requires_grad=True)
    _, plain = cross_entropy(states, torch.randn(5, 4, requires_grad=True), torch.tensor([1, 2]), 0.1, torch.float32)
    assert not plain.requires_grad


def test_bfloat16_products_stay_close_to_float32() -> None:
    random = torch.Generator().manual_seed(2)
    states, weight = torch.randn(50, 32, generator=random), torch.randn(40, 32, generator=random) * 0.2
    targets = torch.randint(0, 40, (50,), generator=random)
    exact, _ = cross_entropy(states, weight, targets, 0.1, torch.float32)
    narrow, _ = cross_entropy(states, weight, targets, 0.1, torch.bfloat16)
    assert narrow.dtype == torch.float32
    # bfloat16 keeps 8 bits: products are off by up to 1/256 each, sums by far less
    torch.testing.assert_close(narrow, exact, rtol=5e-3, atol=0)


def test_guidance_is_the_cross_entropy_of_attention_against_the_alignment() -> None:
    alignment = torch.tensor([[[0.9, 0.1, 0.0], [0.0, 0.5, 0.5]]])
    weights = torch.tensor([[[[0.8, 0.1, 0.1], [0.2, 0.4, 0.4]], [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]]])
    by_hand = 0.0
    for head in range(2):
        for j in range(2):
            for i in range(3):
                by_hand -= float(alignment[0, j, i]) * float((weights[0, head, j, i] + 1e-5).log())
    assert guided_alignment(weights, alignment).item() == pytest.approx(by_hand / 2, rel=1e-6)


def test_guidance_is_least_where_attention_is_the_alignment() -> None:
    alignment = torch.softmax(torch.randn(2, 4, 5, generator=torch.Generator().manual_seed(3)), dim=-1)
    other = alignment.roll(1, dims=-1)
    assert guided_alignment(alignment[:, None], alignment) < guided_alignment(other[:, None], alignment)

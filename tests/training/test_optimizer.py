import pytest
import torch
from torch import nn

from pellucid.training.config import TranslatorTrainingConfig
from pellucid.training.optimizer import WeightAverage, adamw, set_learning_rate


def test_only_matrices_decay() -> None:
    part = nn.Linear(3, 2)
    with torch.no_grad():
        part.bias.fill_(1.0)
        part.weight.fill_(1.0)
    optimizer = adamw(part, TranslatorTrainingConfig(weight_decay=0.5, learning_rate=0.1))
    part.weight.grad, part.bias.grad = torch.zeros(2, 3), torch.zeros(2)
    optimizer.step()
    assert part.bias.tolist() == [1.0, 1.0]
    assert part.weight[0, 0].item() == pytest.approx(1 - 0.1 * 0.5)


def test_adamw_takes_the_published_step() -> None:
    """First step of Kingma & Ba's algorithm 1: m̂ = g, v̂ = g², so the weight moves by lr·g/(|g| + ε)."""
    weight = nn.Parameter(torch.tensor([1.0]))
    holder = nn.Module()
    holder.register_parameter("weight", weight)
    optimizer = adamw(holder, TranslatorTrainingConfig(learning_rate=0.1, weight_decay=0.0))
    set_learning_rate(optimizer, 0.01)
    weight.grad = torch.tensor([-3.0])
    optimizer.step()
    assert weight.item() == pytest.approx(1.01, abs=1e-6)


def test_the_average_follows_its_formula() -> None:
    part = nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        part.weight.fill_(0.0)
    average = WeightAverage(part, decay=0.5)
    expected = 0.0
    for update, value in enumerate([1.0, 2.0, 4.0], start=1):
        with torch.no_grad():
            part.weight.fill_(value)
        average.update()
        decay = min(0.5, (1 + update) / (10 + update))
        expected = decay * expected + (1 - decay) * value
        assert average.weights["weight"].item() == pytest.approx(expected, rel=1e-6)

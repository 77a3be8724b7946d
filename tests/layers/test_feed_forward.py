"""Feed-forward parts against their plain formulas."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from pellucid.layers.feed_forward import FEED_FORWARDS

BENDS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": lambda x: x * (x > 0),
    "gelu": lambda x: x * (1 + torch.erf(x / math.sqrt(2))) / 2,  # x · Φ(x)
    "gelu_tanh": lambda x: x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
}


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("activation", FEED_FORWARDS)
def test_feed_forward_is_its_formula(activation: str, bias: bool) -> None:
    torch.manual_seed(2)
    part = FEED_FORWARDS[activation](6, 10, bias)
    x = torch.randn(2, 3, 6)
    parameters = dict(part.named_parameters())
    assert any(name.endswith("bias") for name in parameters) is bias

    def projected(name: str, states: Tensor) -> Tensor:
        return states @ parameters[f"{name}.weight"].T + parameters.get(f"{name}.bias", torch.zeros(()))

    if activation == "swiglu":
        gate = projected("gate_projection", x)
        hidden = gate / (1 + torch.exp(-gate)) * projected("up_projection", x)
    else:
        hidden = BENDS[activation](projected("up_projection", x))
    seen: dict[str, Tensor] = {}
    out = part(x, lambda name, y: seen.setdefault(name, y))
    torch.testing.assert_close(out, projected("down_projection", hidden), atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(seen["hidden"], hidden, atol=1e-6, rtol=1e-5)
    assert list(seen) == ["hidden", "output"]


@pytest.mark.parametrize("activation", FEED_FORWARDS)
def test_each_position_is_worked_on_alone(activation: str) -> None:
    torch.manual_seed(2)
    part = FEED_FORWARDS[activation](6, 10, True)
    x = torch.randn(1, 4, 6)
    alone = torch.cat([part(x[:, n : n + 1]) for n in range(4)], dim=1)
    torch.testing.assert_close(part(x), alone, atol=1e-6, rtol=1e-5)

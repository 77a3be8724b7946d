"""Feed-forward sublayers, which process each position separately."""

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from pellucid.layers.taps import Tap, TapInfo, keep

__all__ = ["FEED_FORWARDS", "FEED_FORWARD_TAPS", "FeedForward", "GatedFeedForward"]

FEED_FORWARD_TAPS = (
    TapInfo("hidden", "after the activation, or after the gate", "batch query d_ff"),
    TapInfo("output", "added to the residual stream", "batch query d_model"),
)


class FeedForward(nn.Module):
    """Up projection, activation, down projection: activation(x W₁ + b₁) W₂ + b₂.

    Taps: `FEED_FORWARD_TAPS`.

    Source:
        Vaswani et al. 2017, eq. 2 (ReLU); Hendrycks & Gimpel 2016 (GELU, and its approximation by tanh).
    """

    def __init__(self, d_model: int, d_ff: int, bias: bool, activation: nn.Module) -> None:
        super().__init__()
        self.up_projection = nn.Linear(d_model, d_ff, bias)
        self.down_projection = nn.Linear(d_ff, d_model, bias)
        self.activation = activation

    def forward(self, x: Float[Tensor, "batch seq d_model"], tap: Tap = keep) -> Float[Tensor, "batch seq d_model"]:
        """Compute what is added to the residual stream."""
        hidden = tap("hidden", self.activation(self.up_projection(x)))
        return tap("output", self.down_projection(hidden))


class GatedFeedForward(nn.Module):
    """SwiGLU: (silu(x W_gate) ⊙ x W₁) W₂.

    Taps: `FEED_FORWARD_TAPS`.

    Source:
        Shazeer 2020, eq. 6.
    """

    def __init__(self, d_model: int, d_ff: int, bias: bool) -> None:
        super().__init__()
        self.gate_projection = nn.Linear(d_model, d_ff, bias)
        self.up_projection = nn.Linear(d_model, d_ff, bias)
        self.down_projection = nn.Linear(d_ff, d_model, bias)

    def forward(self, x: Float[Tensor, "batch seq d_model"], tap: Tap = keep) -> Float[Tensor, "batch seq d_model"]:
        """Compute what is added to the residual stream."""
        hidden = tap("hidden", F.silu(self.gate_projection(x)) * self.up_projection(x))
        return tap("output", self.down_projection(hidden))


FEED_FORWARDS = {
    "relu": lambda d_model, d_ff, bias: FeedForward(d_model, d_ff, bias, nn.ReLU()),
    "gelu": lambda d_model, d_ff, bias: FeedForward(d_model, d_ff, bias, nn.GELU()),
    "gelu_tanh": lambda d_model, d_ff, bias: FeedForward(d_model, d_ff, bias, nn.GELU("tanh")),
    "swiglu": GatedFeedForward,
}

"""AdamW, and the exponential moving average of the weights."""

import torch
from torch import Tensor, nn

from pellucid.training.config import TrainingConfig

__all__ = ["WeightAverage", "adamw", "set_learning_rate"]


def adamw(model: nn.Module, config: TrainingConfig) -> torch.optim.AdamW:
    """Create a fused AdamW over all weights, with weight decay on matrices only.

    Source:
        Kingma & Ba 2015, algorithm 1; Loshchilov & Hutter 2019, algorithm 2.
    """
    matrices = [weight for weight in model.parameters() if weight.ndim > 1]
    vectors = [weight for weight in model.parameters() if weight.ndim < 2]
    return torch.optim.AdamW(
        [{"params": matrices, "weight_decay": config.weight_decay}, {"params": vectors, "weight_decay": 0.0}],
        lr=config.learning_rate,
        betas=(config.adam_beta1, config.adam_beta2),
        eps=config.adam_epsilon,
        fused=True,
    )


def set_learning_rate(optimizer: torch.optim.Optimizer, learning_rate: float) -> None:
    """Set the learning rate of the next step."""
    for group in optimizer.param_groups:
        group["lr"] = learning_rate


class WeightAverage:
    """The exponential moving average of a model's weights, with a smaller decay at the start.

    average ← d·average + (1 − d)·weights, where d = min(decay, (1 + n)/(10 + n)) after n updates, so that the initial
    weights are soon forgotten.

    Args:
        decay: weight of the past in an update.

    Source:
        Polyak & Juditsky 1992; the correction as in TensorFlow's ExponentialMovingAverage.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self.updates = 0
        self.live = dict(model.named_parameters())
        self.weights: dict[str, Tensor] = {name: weight.detach().clone() for name, weight in self.live.items()}

    def update(self) -> None:
        """Add the model's current weights."""
        self.updates += 1
        decay = min(self.decay, (1 + self.updates) / (10 + self.updates))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.weights.values()), list(self.live.values()), 1 - decay)

"""Training of small models on toy tasks."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from pellucid.training.config import TrainingConfig
from pellucid.training.optimizer import adamw

__all__ = ["Optimizer", "build_adamw", "fit"]

Optimizer = Callable[[nn.Module, float], torch.optim.Optimizer]


def build_adamw(model: nn.Module, learning_rate: float) -> torch.optim.Optimizer:
    """Build Pellucid's AdamW, without weight decay."""
    return adamw(model, TrainingConfig(learning_rate=learning_rate, weight_decay=0.0))


def fit(
    model: nn.Module,
    loss_of_step: Callable[[int], Tensor],
    steps: int,
    *,
    learning_rate: float = 3e-3,
    optimizer: Optimizer = build_adamw,
) -> list[float]:
    """Train a model in place at a constant learning rate, with gradients clipped to norm 1.

    Args:
        model: the model.
        loss_of_step: computes the loss of the batch of step n, from 0.
        steps: number of updates.
        learning_rate: of every step.
        optimizer: builds the optimizer from the model and the learning rate.
    """
    updates = optimizer(model, learning_rate)
    losses = []
    model.train()
    for step in range(steps):
        loss = loss_of_step(step)
        updates.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        updates.step()
        losses.append(float(loss.detach()))
    model.eval()
    return losses

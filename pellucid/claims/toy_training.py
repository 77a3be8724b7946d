"""Training of small models on made-up tasks: the loss of a batch down, step by step."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from pellucid.training.config import TrainingConfig
from pellucid.training.optimizer import adamw

__all__ = ["Optimizer", "by_adamw", "fit"]

Optimizer = Callable[[nn.Module, float], torch.optim.Optimizer]


def by_adamw(model: nn.Module, learning_rate: float) -> torch.optim.Optimizer:
    """Return the library's AdamW, without decay."""
    return adamw(model, TrainingConfig(learning_rate=learning_rate, weight_decay=0.0))


def fit(
    model: nn.Module,
    loss_of_step: Callable[[int], Tensor],
    steps: int,
    *,
    learning_rate: float = 3e-3,
    optimizer: Optimizer = by_adamw,
) -> list[float]:
    """Train in place at a constant rate, gradients clipped at norm 1; return each step's loss.

    Args:
        model: whose weights move.
        loss_of_step: the loss of the batch that step n (from 0) is made from.
        steps: how many.
        learning_rate: of all of them.
        optimizer: makes the optimizer from the model and the rate.
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

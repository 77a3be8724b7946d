"""What training minimises: cross-entropy of the next token, and guided alignment."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

__all__ = ["cross_entropy", "guided_alignment"]

ROWS = 1024
"""Tokens whose logits are in memory at once."""


def cross_entropy(
    states: Float[Tensor, "tokens d_model"],
    weight: Float[Tensor, "vocab_size d_model"],
    targets: Int[Tensor, " tokens"],
    label_smoothing: float,
    dtype: torch.dtype,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Compute the summed loss of predicting `targets` by the logits `states @ weight.T`.

    −Σ [(1 − ε) log p(target) + ε mean over the vocabulary of log p]. Projection, loss and gradient are computed
    together for `ROWS` tokens at a time, so that the logits of a whole batch are never in memory and each is read once.
    Under `torch.no_grad` the two matrix products of the gradient are skipped.

    Args:
        label_smoothing: ε.
        dtype: of the three matrix products; the softmax is float32.

    Returns:
        The smoothed loss, which has a gradient, and the plain one (ε = 0), which has none; in nats, summed.

    Source:
        Szegedy et al. 2016, §7 for the smoothing.
    """
    # Determined here, because PyTorch switches gradients off inside the function.
    needs_gradient = torch.is_grad_enabled() and (states.requires_grad or weight.requires_grad)
    loss, plain = _FusedCrossEntropy.apply(states.to(dtype), weight, targets, label_smoothing, needs_gradient)  # type: ignore[no-untyped-call]
    return loss, plain


class _FusedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, states: Tensor, weight: Tensor, targets: Tensor, smoothing: float, needs_gradient: bool
    ) -> tuple[Tensor, Tensor]:
        cast_weight = weight.to(states.dtype)
        vocab_size = len(weight)
        state_gradient = torch.empty_like(states) if needs_gradient else states.new_empty(0)
        weight_gradient = torch.zeros_like(weight) if needs_gradient else weight.new_empty(0)
        loss, plain = states.new_zeros((), dtype=torch.float32), states.new_zeros((), dtype=torch.float32)
        for start in range(0, len(states), ROWS):
            rows, target = states[start : start + ROWS], targets[start : start + ROWS, None]
            logits = (rows @ cast_weight.T).float()
            highest = logits.amax(1, keepdim=True)
            of_target = logits.gather(1, target)
            mean = logits.mean(1, keepdim=True) if smoothing else 0.0
            probability = logits.sub_(highest).exp_()
            total = probability.sum(1, keepdim=True)
            log_total = total.log() + highest
            plain += (log_total - of_target).sum()
            loss += (log_total - (1 - smoothing) * of_target - smoothing * mean).sum()
            if not needs_gradient:
                continue
            # ∂loss/∂logits = softmax − (1 − ε)·onehot(target) − ε/V
            gradient = probability.div_(total)
            if smoothing:
                gradient.sub_(smoothing / vocab_size)
            gradient.scatter_add_(1, target, gradient.new_full((), smoothing - 1).expand_as(target))
            gradient = gradient.to(states.dtype)
            torch.mm(gradient, cast_weight, out=state_gradient[start : start + ROWS])
            weight_gradient += gradient.T @ rows
        ctx.save_for_backward(state_gradient, weight_gradient)
        ctx.mark_non_differentiable(plain)
        return loss, plain

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        state_gradient, weight_gradient = ctx.saved_tensors
        return state_gradient * gradients[0], weight_gradient * gradients[0], None, None, None


def guided_alignment(
    weights: Float[Tensor, "batch heads target source"], alignment: Float[Tensor, "batch target source"]
) -> Float[Tensor, ""]:
    """Compute the cross-entropy of attention against a word alignment, summed over target tokens, averaged over heads.

    −Σ_j Σ_i alignment[j, i] · log(weights[j, i] + 1e-5), in nats.

    Source:
        Chen et al. 2016 (guided alignment training), eq. 7. Differs from source: posteriors of a statistical aligner
        instead of its hard links, and several heads separately instead of their average.
    """
    return -(alignment[:, None] * (weights + 1e-5).log()).sum() / weights.shape[1]

"""K1: with the causal mask, no position sees later ones."""

import torch
from torch import Tensor

from pellucid.claims.activations import Leaf
from pellucid.claims.claim import Setup, at_least, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import no_mask, random_ids, small_decoder
from pellucid.models.decoder_only import DecoderOnly

__all__ = ["CLAIM", "measure"]

_LENGTH = 8


def _influence(model: DecoderOnly, ids: Tensor, may_attend: Tensor | None) -> Tensor:
    """Compute the norm of ∂ output at t / ∂ embedding at s, for one linear combination of the outputs, [t s]."""
    embedding = Leaf("embedding.token")
    logits = model(ids, embedding, may_attend=may_attend)[0]
    direction = torch.linspace(-1, 1, logits.shape[-1])
    rows = []
    for t in range(_LENGTH):
        (gradient,) = torch.autograd.grad(logits[t] @ direction, embedding.value, retain_graph=True)
        rows.append(gradient[0].norm(dim=-1))
    return torch.stack(rows)


def measure(setup: Setup, may_attend: Tensor | None = None) -> Evidence:
    """Differentiate each output with respect to each input, with the model's mask and without one.

    Args:
        may_attend: replaces the model's mask, [1 1 8 8].
    """
    model, ids = small_decoder(setup.seed), random_ids(setup.seed, 1, _LENGTH)
    masked, free = _influence(model, ids, may_attend), _influence(model, ids, no_mask(_LENGTH))
    ahead = torch.ones(_LENGTH, _LENGTH, dtype=torch.bool).triu(1)
    records = [
        {"output": t + 1, "input": s + 1, "derivative": float(masked[t, s])}
        for t in range(_LENGTH)
        for s in range(_LENGTH)
    ]
    numbers = exact_values(
        largest_derivative_ahead=float(masked[ahead].max()),
        least_derivative_back=float(masked[~ahead].min()),
        least_derivative_ahead_without_mask=float(free[ahead].min()),
    )
    return Evidence(numbers, records, Figure("heat", "input", "output", "derivative"))


CLAIM = claim(
    measure,
    at_most("largest_derivative_ahead", 0.0),
    at_least("least_derivative_back", 1e-6),
    at_least("least_derivative_ahead_without_mask", 1e-6),
)

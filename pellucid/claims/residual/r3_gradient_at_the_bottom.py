"""R3: with residual connections, gradients reach the bottom."""

from collections.abc import Callable
from statistics import geometric_mean

import torch
from torch import nn

from pellucid.claims.ablations import without_residual
from pellucid.claims.activations import Leaf
from pellucid.claims.claim import Effort, Setup, at_least, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds, paired_difference
from pellucid.claims.small_models import VOCAB_SIZE, random_ids, small_decoder

__all__ = ["CLAIM", "measure"]

_DEPTHS = (2, 4, 8, 16, 32, 64)
_TINY = 1e-38  # gradients below are 0 in float32


def _bottom_gradient(seed: int, depth: int, placement: str, change: Callable[[nn.Module], nn.Module]) -> float:
    """Compute the norm of the loss's gradient at the input of the first block."""
    model = change(small_decoder(seed, n_layers=depth, norm_placement=placement, tie_embeddings=False))
    ids, bottom = random_ids(seed, 4, 12), Leaf("decoder.0.residual.input")
    logits = model(ids[:, :-1], bottom)
    nn.functional.cross_entropy(logits.reshape(-1, VOCAB_SIZE), ids[:, 1:].flatten()).backward()
    assert bottom.value.grad is not None
    return max(float(bottom.value.grad.norm()), _TINY)


def measure(setup: Setup, with_residual: Callable[[nn.Module], nn.Module] = lambda model: model) -> Evidence:
    """Measure the gradient at the bottom of untrained networks of 2 to 64 layers, of three kinds."""
    kinds = {
        "pre-norm": ("pre", with_residual),
        "post-norm": ("post", with_residual),
        "no residual": ("pre", without_residual),
    }
    norms = {
        (kind, depth): [_bottom_gradient(seed, depth, placement, change) for seed in setup.every_seed()]
        for kind, (placement, change) in kinds.items()
        for depth in _DEPTHS
    }
    records = [
        {"layers": depth, "network": kind, "gradient": geometric_mean(values)}
        for (kind, depth), values in norms.items()
    ]
    logs = {
        kind: [torch.tensor(deep / shallow).log10().item() for shallow, deep in zip(*ends, strict=True)]
        for kind, ends in {kind: (norms[kind, 2], norms[kind, 64]) for kind in kinds}.items()
    }
    changes = {kind: [abs(value) for value in values] for kind, values in logs.items()}
    numbers = {
        "powers_of_ten_pre_norm": mean_over_seeds(changes["pre-norm"]),
        "powers_of_ten_post_norm": mean_over_seeds(changes["post-norm"]),
        "powers_of_ten_no_residual": mean_over_seeds(changes["no residual"]),
        "powers_of_ten_saved": paired_difference(changes["no residual"], changes["pre-norm"]),
        # The numbers of the first rule, which required at least −1, and at least 1.
        "log10_remaining_pre_norm": mean_over_seeds(logs["pre-norm"]),
        "log10_advantage_over_no_residual": paired_difference(logs["pre-norm"], logs["no residual"]),
    }
    figure = Figure("line", "layers", "gradient", "network", log_x=True, log_y=True)
    return Evidence(numbers, records, figure, ("rule_changed",))


CLAIM = claim(
    measure,
    at_most("powers_of_ten_pre_norm", 1.5, fails_at=2.5),
    at_least("powers_of_ten_saved", 1.0, fails_at=0.0),
    effort=Effort(Setup(seeds=3), Setup(seeds=8)),
)

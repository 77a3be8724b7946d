"""H1: eight heads of 64 cost what one of 512 costs."""

import torch

from pellucid.claims.activations import Activations
from pellucid.claims.claim import Setup, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import no_mask
from pellucid.layers.attention import Attention, HeadConfig
from pellucid.layers.positions import AttentionPositions

__all__ = ["CLAIM", "measure"]

_D, _LENGTH = 512, 10
_COUNTS = ("parameters", "multiplications", "scores")


def _counts(n_heads: int, d_head: int) -> dict[str, int]:
    """Count an attention's parameters, the multiplications of its matrix products, and the scores it stores."""
    attention = Attention(_D, HeadConfig(n_heads, n_heads, d_head, bias=True), True, 0.0, AttentionPositions())
    activations = Activations()
    states, positions = torch.zeros(1, _LENGTH, _D), torch.arange(_LENGTH)
    with torch.no_grad():
        attention(states, attention.key_value(states, positions, activations), no_mask(_LENGTH), positions, activations)
    projections = sum(
        _LENGTH * part.weight.numel() for part in (attention.query, attention.key, attention.value, attention.output)
    )
    scores = activations["scores"].numel()
    mixing = 2 * scores * activations["query"].shape[-1]  # d_head products per score and per weight
    return {
        "parameters": sum(weight.numel() for weight in attention.parameters()),
        "multiplications": projections + mixing,
        "scores": scores,
    }


def measure(setup: Setup, many: tuple[int, int] = (8, 64)) -> Evidence:
    """Compare eight heads of 64 with one of 512."""
    counts = {"1 × 512": _counts(1, _D), f"{many[0]} × {many[1]}": _counts(*many)}
    one, several = counts.values()
    records = [
        {"cost": cost, "heads": heads, "ratio": count[cost] / one[cost], "count": count[cost]}
        for heads, count in counts.items()
        for cost in _COUNTS
    ]
    off = {f"{cost}_difference": abs(several[cost] / one[cost] - 1) for cost in _COUNTS}
    return Evidence(exact_values(**off), records, Figure("bar", "cost", "ratio", "heads"))


CLAIM = claim(
    measure,
    at_most("parameters_difference", 0.0),
    at_most("multiplications_difference", 0.0),
    outside=(at_most("scores_difference", 0.0),),
)

"""K4: padding does not affect a sentence."""

from typing import get_args

import torch
import torch.nn.functional as F

from pellucid.claims.claim import Setup, at_least, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import PAD, random_ids, small_translator
from pellucid.layers.position_scheme import PositionScheme

__all__ = ["CLAIM", "measure"]


def measure(setup: Setup, pad_id: int = PAD) -> Evidence:
    """Compare all logits of a sentence alone and in a batch with longer ones.

    Args:
        pad_id: the id that the model treats as padding; the batch is padded with 0.
    """
    records, worst, unmasked = [], 0.0, []
    for positions in get_args(PositionScheme):
        model = small_translator(
            setup.seed, positions=positions, cross_positions="rope" if positions == "rope" else "none"
        )
        model.pad_id = pad_id
        source, target = random_ids(setup.seed, 1, 6), random_ids(setup.seed, 1, 5)
        longer, longer_target = random_ids(setup.seed, 3, 15), random_ids(setup.seed, 3, 11)
        sources = torch.cat((F.pad(source, (0, 9), value=PAD), longer))
        targets = torch.cat((F.pad(target, (0, 6), value=PAD), longer_target))
        with torch.no_grad():
            alone, beside = model(source, target), model(sources, targets)[:1, :5]
            model.pad_id = -1
            leaking = model(sources, targets)[:1, :5]
        difference = float((alone - beside).abs().max())
        worst = max(worst, difference)
        unmasked.append(float((alone - leaking).abs().max()))
        records += [
            {"positions": positions, "padding": "masked", "difference": difference},
            {"positions": positions, "padding": "not masked", "difference": unmasked[-1]},
        ]
    numbers = exact_values(largest_difference=worst, least_difference_unmasked=min(unmasked))
    return Evidence(numbers, records, Figure("bar", "positions", "difference", "padding"))


CLAIM = claim(measure, at_most("largest_difference", 1e-4, fails_at=1e-3), at_least("least_difference_unmasked", 1e-3))

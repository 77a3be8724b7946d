"""P7: without positional encodings, shuffled words give the same result."""

import torch
from torch import Tensor

from pellucid.claims.claim import Effort, Setup, at_least, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import no_mask, random_ids, small_decoder, torch_generator
from pellucid.claims.toy_tasks import train_to_name_the_chaser
from pellucid.layers.masks import causal
from pellucid.models.decoder_only import DecoderOnly

__all__ = ["CLAIM", "measure"]

_LENGTH = 8


def _shift(model: DecoderOnly, ids: Tensor, order: Tensor, may_attend: Tensor) -> float:
    """Compute the difference between shuffling the words and shuffling the outputs, relative to the outputs."""
    with torch.no_grad():
        outputs, shuffled = model.states(ids, may_attend=may_attend), model.states(ids[:, order], may_attend=may_attend)
    return float((shuffled - outputs[:, order]).norm() / outputs.norm())


def measure(setup: Setup, positions: str = "none") -> Evidence:
    """Shuffle words without encodings, with and without a causal mask, and with encodings; predict who chases.

    Args:
        positions: scheme of the model that should know no positions.
    """
    ids = random_ids(setup.seed, 4, _LENGTH)
    order = torch.randperm(_LENGTH, generator=torch_generator(setup.seed, "P7"))
    if torch.equal(order, torch.arange(_LENGTH)):
        order = order.flip(0)
    blind, coded = small_decoder(setup.seed, positions=positions), small_decoder(setup.seed, positions="sinusoidal")
    shifts = {
        "no encoding, no mask": _shift(blind, ids, order, no_mask(_LENGTH)),
        "no encoding, causal mask": _shift(blind, ids, order, causal(_LENGTH)),
        "encoding, no mask": _shift(coded, ids, order, no_mask(_LENGTH)),
    }
    there, back = torch.tensor([[1, 9, 2]]), torch.tensor([[2, 9, 1]])
    with torch.no_grad():
        pooled = [blind.states(text, may_attend=no_mask(3)).mean(1) for text in (there, back)]
    trained = {kind: train_to_name_the_chaser(setup.seed, setup.steps, kind) for kind in (positions, "sinusoidal")}
    records = [{"model": name, "difference": value} for name, value in shifts.items()]
    return Evidence(
        exact_values(
            difference_without_encodings=shifts["no encoding, no mask"],
            difference_of_pooled_outputs=float((pooled[0] - pooled[1]).norm() / pooled[0].norm()),
            difference_under_a_causal_mask=shifts["no encoding, causal mask"],
            difference_with_encodings=shifts["encoding, no mask"],
            accuracy_without_encodings=trained[positions][1],
            accuracy_with_encodings=trained["sinusoidal"][1],
        ),
        records,
        Figure("bar", "model", "difference"),
    )


CLAIM = claim(
    measure,
    at_most("difference_without_encodings", 1e-4),
    at_most("difference_of_pooled_outputs", 1e-4),
    at_most("accuracy_without_encodings", 0.6),
    at_least("accuracy_with_encodings", 0.95),
    outside=(at_most("difference_under_a_causal_mask", 1e-4, fails_at=1e-2),),
    effort=Effort(Setup(steps=150), Setup(steps=400)),
)

"""T1: teacher forcing trains all positions at once."""

import torch
import torch.nn.functional as F
from torch import Tensor

from pellucid.claims.claim import Setup, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import random_ids, small_translator
from pellucid.models.encoder_decoder import EncoderDecoder

__all__ = ["CLAIM", "measure"]

_LENGTH = 9


def _losses(model: EncoderDecoder, source: Tensor, target: Tensor) -> tuple[list[float], list[float]]:
    """Compute the loss of each position in one pass, and one by one from its prefix only."""
    with torch.no_grad():
        at_once = F.cross_entropy(model(source, target[:, :-1])[0], target[0, 1:], reduction="none").tolist()
        one_by_one = []
        for step in range(1, _LENGTH):
            logits = model(source, target[:, :step])[0, -1]
            one_by_one.append(float(F.cross_entropy(logits, target[0, step])))
    return at_once, one_by_one


def measure(setup: Setup, model: EncoderDecoder | None = None) -> Evidence:
    """Compare the loss of all positions in one pass with that of each after its own prefix; and the gradients."""
    model = model or small_translator(setup.seed)
    source, target = random_ids(setup.seed, 1, 7), random_ids(setup.seed, 1, _LENGTH)
    at_once, one_by_one = _losses(model, source, target)
    records = [
        {"position": n + 1, "loss": loss, "computed": name}
        for name, losses in (("at once", at_once), ("one by one", one_by_one))
        for n, loss in enumerate(losses)
    ]
    weight = model.target_embedding.weight
    (together,) = torch.autograd.grad(
        F.cross_entropy(model(source, target[:, :-1])[0], target[0, 1:], reduction="sum"), weight
    )
    apart = sum(
        torch.autograd.grad(F.cross_entropy(model(source, target[:, :step])[0, -1], target[0, step]), weight)[0]
        for step in range(1, _LENGTH)
    )
    numbers = exact_values(
        difference_of_sums=abs(sum(at_once) - sum(one_by_one)) / sum(one_by_one),
        largest_difference_of_a_position=max(abs(a - b) for a, b in zip(at_once, one_by_one, strict=True)),
        difference_of_gradients=float((together - apart).norm() / together.norm()),
    )
    return Evidence(numbers, records, Figure("line", "position", "loss", "computed"))


CLAIM = claim(
    measure,
    at_most("difference_of_sums", 1e-4, fails_at=1e-3),
    at_most("largest_difference_of_a_position", 1e-4, fails_at=1e-3),
    at_most("difference_of_gradients", 1e-4, fails_at=1e-3),
)

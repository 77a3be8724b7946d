"""A5: with Q = K = X each word attends most to itself."""

import torch
from torch import Tensor

from pellucid.claims.activations import Activations
from pellucid.claims.claim import Setup, at_least, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import no_mask, torch_generator
from pellucid.layers.attention import attend

__all__ = ["CLAIM", "measure"]

_LENGTH = 16
_WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


def _weights(x: Tensor, y: Tensor | None = None) -> Tensor:
    activations = Activations()
    attend(x[None, None], (x if y is None else y)[None, None], x[None, None], no_mask(_LENGTH), activations)
    return activations["weights"][0, 0]


def measure(setup: Setup, trials: int = 20, keys_of: Tensor | None = None) -> Evidence:
    """Count the words that attend most to themselves: with equal norms, and with one long vector.

    Args:
        keys_of: maps vectors to keys, [8 8]; the identity by default.
    """
    random, records = torch_generator(setup.seed, "A5"), []
    shares: dict[str, list[float]] = {"equal": [], "one long": []}
    for _ in range(trials):
        x = torch.nn.functional.normalize(torch.randn(_LENGTH, 8, generator=random), dim=1)
        longer = x.clone()
        longer[0] *= 20
        for name, vectors in (("equal", x), ("one long", longer)):
            weights = _weights(vectors, None if keys_of is None else vectors @ keys_of)
            shares[name].append(float((weights.argmax(1) == torch.arange(_LENGTH)).float().mean()))
    distances = {}
    for d in _WIDTHS:
        x = torch.randn(_LENGTH, d, generator=random)
        for name, factor in (("with 1/√d", 1.0), ("without", d**0.25)):
            weights = _weights(x * factor)
            distances[name, d] = float((weights - torch.eye(_LENGTH)).norm(dim=1).mean())
            records.append({"d": d, "scaling": name, "distance": distances[name, d]})
    numbers = exact_values(
        share_attending_to_themselves=sum(shares["equal"]) / trials,
        share_attending_to_themselves_beside_a_long_vector=sum(shares["one long"]) / trials,
        distance_from_identity_d_512=distances["with 1/√d", 512],
        distance_from_identity_d_512_unscaled=distances["without", 512],
    )
    return Evidence(numbers, records, Figure("line", "d", "distance", "scaling", log_x=True))


CLAIM = claim(
    measure,
    at_least("share_attending_to_themselves", 0.999),
    outside=(at_least("share_attending_to_themselves_beside_a_long_vector", 0.999, fails_at=0.9),),
)

"""P10: a model can read longer texts than it saw in training."""

import torch
import torch.nn.functional as F
from torch import Tensor

from pellucid.claims.claim import Effort, Setup, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values, mean_over_seeds
from pellucid.claims.small_models import small_decoder, torch_generator
from pellucid.claims.toy_tasks import fit
from pellucid.errors import UserError
from pellucid.models.decoder_only import DecoderOnly

__all__ = ["CLAIM", "generate_repeating_text", "measure"]

_SEEN, _LONG, _PERIOD, _LETTERS = 24, 96, 4, 12
_SCHEMES = ("sinusoidal", "rope", "alibi", "none")


def generate_repeating_text(random: torch.Generator, batch: int, length: int) -> Tensor:
    """Generate texts of four random letters, repeated: after the first round, each letter is certain."""
    motif = torch.randint(1, _LETTERS, (batch, _PERIOD), generator=random)
    return motif.repeat(1, length // _PERIOD + 1)[:, :length]


def _by_position(model: DecoderOnly, ids: Tensor) -> Tensor:
    logits = model(ids[:, :-1])
    return F.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(0)


def measure(setup: Setup) -> Evidence:
    """Train on short texts and measure the loss at each position of texts four times as long."""
    records: list[dict[str, object]] = []
    added: dict[str, list[float]] = {scheme: [] for scheme in _SCHEMES}
    rejected = 0
    for seed in setup.every_seed():
        for scheme in _SCHEMES:
            model, draw = small_decoder(seed, vocab_size=_LETTERS, positions=scheme), torch_generator(seed, "P10")

            def loss(step: int, model: DecoderOnly = model, draw: torch.Generator = draw) -> Tensor:
                return _by_position(model, generate_repeating_text(draw, 32, _SEEN))[_PERIOD:].mean()

            fit(model, loss, setup.steps)
            with torch.no_grad():
                losses = _by_position(model, generate_repeating_text(torch_generator(seed, "P10", "test"), 200, _LONG))
            within, beyond = float(losses[_SEEN // 2 : _SEEN - 1].mean()), float(losses[2 * _SEEN :].mean())
            added[scheme].append(beyond - within)
            records += [
                {"position": position, "positions": scheme, "loss": float(losses[position]), "seed": seed}
                for position in range(_PERIOD, _LONG - 1, 3)
            ]
        learned = small_decoder(seed, vocab_size=_LETTERS, positions="learned", max_positions=_SEEN)
        try:
            learned(torch.ones(1, _LONG, dtype=torch.long))
        except UserError:
            rejected += 1
    numbers = {
        **{f"loss_added_{scheme}": mean_over_seeds(values) for scheme, values in added.items()},
        **exact_values(learned_encodings_rejected=rejected),
    }
    shown = [record for record in records if record["seed"] == setup.seed]
    return Evidence(numbers, shown, Figure("line", "position", "loss", "positions"))


CLAIM = claim(
    measure,
    at_most("loss_added_alibi", 0.2, fails_at=0.5),
    outside=(at_most("loss_added_sinusoidal", 0.2, fails_at=0.5), at_most("loss_added_rope", 0.2, fails_at=0.5)),
    effort=Effort(Setup(seeds=3, steps=60), Setup(seeds=5, steps=300)),
)

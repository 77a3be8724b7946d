"""E15: word vectors alone cannot represent a sentence."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pellucid.claims.claim import Claim, Effort, Setup
from pellucid.claims.evidence import Evidence, Figure, exact_values, share_over_seeds
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.small_models import no_mask, small_decoder
from pellucid.claims.texts import load_texts
from pellucid.claims.toy_training import fit
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.initialise import init_weights

__all__ = ["CLAIM", "measure"]

_ANIMALS = range(1, 9)  # 9 stands for 追


def _texts() -> tuple[Tensor, Tensor]:
    pairs = torch.tensor([(a, b) for a in _ANIMALS for b in _ANIMALS if a != b])
    return torch.stack((pairs[:, 0], torch.full((len(pairs),), 9), pairs[:, 1]), 1), pairs[:, 0]


def measure(setup: Setup, positions: str = "sinusoidal") -> Evidence:
    """Predict chaser chases from the mean of the word vectors and from the mean of an encoder's states.

    Args:
        positions: scheme of the encoder.
    """
    found: dict[str, list[float]] = {"mean of word vectors": [], "mean of encoder states": []}
    off = 0.0
    text, chaser = _texts()
    for seed in setup.every_seed():
        for way, values in found.items():
            model, classifier = small_decoder(seed, vocab_size=10, positions=positions), nn.Linear(32, 10)
            init_weights(classifier, seed, residual_scale=1.0)

            def predict(way: str = way, model: DecoderOnly = model, classifier: nn.Module = classifier) -> Tensor:
                states = model.embedding(text) if "word" in way else model.states(text, may_attend=no_mask(3))
                logits: Tensor = classifier(states.mean(1))
                return logits

            def loss(step: int, predict: Callable[[], Tensor] = predict) -> Tensor:
                return F.cross_entropy(predict(), chaser)

            fit(nn.ModuleList([model, classifier]), loss, setup.steps)
            with torch.no_grad():
                values.append(float((predict().argmax(1) == chaser).float().mean()))
                rows = model.embedding(torch.tensor([[1, 9, 2], [2, 9, 1]])).mean(1)
            off = max(off, float((rows[0] - rows[1]).abs().max()))
    records = [
        {"way": way, "seed": str(setup.seed + n), "accuracy": value}
        for way, values in found.items()
        for n, value in enumerate(values)
    ]
    means, states = found.values()
    numbers = {
        **exact_values(difference_of_the_two_means=off),
        "accuracy_of_means": share_over_seeds(means),
        "accuracy_of_encoder_states": share_over_seeds(states),
    }
    return Evidence(numbers, records, Figure("bar", "way", "accuracy", "seed"))


CLAIM = Claim(
    load_texts(__file__),
    Rule(
        criteria=(
            at_most("difference_of_the_two_means", 1e-6),
            at_most("accuracy_of_means", 0.6, fails_at=0.75),
            at_least("accuracy_of_encoder_states", 0.9, fails_at=0.75),
        )
    ),
    measure,
    Effort(Setup(seeds=3, steps=120), Setup(seeds=5, steps=300)),
)

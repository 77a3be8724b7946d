"""A7: gradients alone make queries and keys match."""

import torch

from pellucid.claims.activations import Activations
from pellucid.claims.claim import Effort, Setup, at_least, claim
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds, paired_difference, share_over_seeds
from pellucid.claims.small_models import no_mask, small_decoder, torch_generator
from pellucid.claims.toy_tasks import accuracy, associative_recall, loss_on, train_on_task
from pellucid.models.decoder_only import DecoderOnly

__all__ = ["CLAIM", "measure"]

_PARTS = ("query", "key", "value")


def _weight_on_right(model: DecoderOnly, seed: int) -> float:
    """Average the weight that the last position gives to the token whose value is the answer, for the best head."""
    ids, _ = associative_recall(torch_generator(seed, "test texts"), 500)
    activations = Activations()
    with torch.no_grad():
        model(ids, activations, may_attend=no_mask(5))
    keys, asked = (ids[:, :4] - 1) // 4, ids[:, 4:] - 25
    weights = activations["decoder.0.self_attention.weights"][:, :, 4, :4]
    return float((weights * (keys == asked)[:, None]).sum(-1).mean(0).max())


def _first_gradients(seed: int) -> dict[str, float]:
    model = small_decoder(seed, vocab_size=40, n_layers=1, positions="none", scale_embeddings=True, activation="relu")
    loss_on(model, associative_recall(torch_generator(seed, "first"), 256)).backward()
    attention = next(model.blocks()).self_attention
    return {name: float(getattr(attention, name).weight.grad.norm()) for name in _PARTS}


def measure(setup: Setup) -> Evidence:
    """Train one layer on associative recall and compare the weight on the right key before and after."""
    before, after, right, records = [], [], [], []
    gradients: dict[str, list[float]] = {name: [] for name in _PARTS}
    for seed in setup.every_seed():
        fresh, _ = train_on_task(associative_recall, seed, 0, positions="none")
        model, _ = train_on_task(associative_recall, seed, setup.steps, positions="none", batch=128)
        before.append(_weight_on_right(fresh, seed))
        after.append(_weight_on_right(model, seed))
        right.append(accuracy(model, associative_recall, seed))
        for name, norm in _first_gradients(seed).items():
            gradients[name].append(norm)
        records += [
            {"when": "before", "seed": str(seed), "weight": before[-1]},
            {"when": "after", "seed": str(seed), "weight": after[-1]},
        ]
    numbers = {
        "gain_of_weight_on_the_right_key": paired_difference(after, before),
        "accuracy": share_over_seeds(right),
        **{f"first_gradient_of_{name}": mean_over_seeds(norms) for name, norms in gradients.items()},
    }
    return Evidence(numbers, records, Figure("bar", "when", "weight", "seed"))


CLAIM = claim(
    measure,
    at_least("gain_of_weight_on_the_right_key", 0.2, fails_at=0.05),
    at_least("accuracy", 0.6, fails_at=0.35),
    effort=Effort(Setup(seeds=3, steps=250), Setup(seeds=5, steps=1_000)),
)

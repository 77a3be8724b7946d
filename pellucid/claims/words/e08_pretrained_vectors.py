"""E8: starting from pretrained vectors speeds up convergence."""

import torch
import torch.nn.functional as F
from torch import Tensor

from pellucid.claims.claim import Effort, Setup, at_most, claim
from pellucid.claims.demo_text import demo_vectors, word_texts
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds
from pellucid.claims.small_models import PAD, small_decoder, torch_generator
from pellucid.claims.toy_tasks import fit
from pellucid.models.decoder_only import DecoderOnly

__all__ = ["CLAIM", "measure"]

_WAYS = ("random", "pretrained, frozen", "pretrained, fine-tuned")
_EVERY = 10


def _loss(model: DecoderOnly, ids: Tensor) -> Tensor:
    return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), ignore_index=PAD)


def measure(setup: Setup) -> Evidence:
    """Train a small language model with three kinds of initial embedding; count steps to the same loss."""
    records: list[dict[str, object]] = []
    needed: dict[str, list[float]] = {way: [] for way in _WAYS}
    for seed in setup.every_seed():
        vectors = demo_vectors("zh", setup.size, seed)
        texts = word_texts(vectors, seed, 600)
        train, valid = texts[:400], texts[400:]
        curves = {}
        for way in _WAYS:
            model = small_decoder(seed, vocab_size=len(vectors) + 1, n_layers=1, tie_embeddings=False)
            rows = torch.from_numpy(vectors.input_vectors.copy())
            if way != "random":
                # With the norm of random rows, so that only directions differ.
                rows = F.normalize(rows, dim=1) * model.embedding.weight.norm(dim=1).mean()
                with torch.no_grad():
                    model.embedding.weight[1:] = rows
            model.embedding.weight.requires_grad_("frozen" not in way)
            curve, draw = [], torch_generator(seed, "E8", "batches")
            for step in range(0, setup.steps, _EVERY):
                with torch.no_grad():
                    curve.append(float(_loss(model.eval(), valid)))
                records.append({"step": step, "start": way, "loss": curve[-1], "seed": seed})
                fit(model, lambda n: _loss(model, train[torch.randint(len(train), (32,), generator=draw)]), _EVERY)  # noqa: B023
            curves[way] = curve
        goal = min(curves["random"])
        for way, curve in curves.items():
            # If never reached, count one more than the whole training.
            needed[way].append(next((n for n, loss in enumerate(curve) if loss <= goal), len(curve)) * _EVERY)
    shown = [record for record in records if record["seed"] == setup.seed]

    def ratio(way: str) -> list[float]:
        return [a / max(b, 1) for a, b in zip(needed[way], needed["random"], strict=True)]

    numbers = {
        "steps_needed_fine_tuned": mean_over_seeds(ratio("pretrained, fine-tuned")),
        "steps_needed_frozen": mean_over_seeds(ratio("pretrained, frozen")),
    }
    return Evidence(numbers, shown, Figure("line", "step", "loss", "start"))


CLAIM = claim(
    measure,
    at_most("steps_needed_fine_tuned", 0.9, fails_at=1.0),
    effort=Effort(Setup(seeds=3, steps=90, size=3_000), Setup(seeds=5, steps=400, size=10_000)),
)

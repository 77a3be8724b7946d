"""K3: without the mask, training is cheating."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from pellucid.claims.claim import Effort, Setup, at_least, at_most, claim
from pellucid.claims.demo_text import demo_sentences
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds, paired_difference
from pellucid.claims.small_models import PAD, no_mask, small_decoder, torch_generator
from pellucid.claims.toy_tasks import fit
from pellucid.generation.batching import pad_rows
from pellucid.layers.masks import causal
from pellucid.models.decoder_only import DecoderOnly

__all__ = ["CLAIM", "measure"]


def _texts(count: int, seed: int) -> tuple[Tensor, int]:
    """Generate sentences of the demo language as word ids with an end word, padded with 0."""
    sentences = [[*words, "。"] for words in demo_sentences("zh", count, seed)]
    ids = {word: n + 1 for n, word in enumerate(sorted({word for words in sentences for word in words}))}
    return pad_rows([[ids[word] for word in words] for words in sentences], PAD), len(ids) + 1


def _loss(model: DecoderOnly, ids: Tensor, masked: bool) -> Tensor:
    length = ids.shape[1] - 1
    mask = causal(length) if masked else no_mask(length)
    return F.cross_entropy(model(ids[:, :-1], may_attend=mask).flatten(0, 1), ids[:, 1:].flatten(), ignore_index=PAD)


def _loss_of_step(model: DecoderOnly, train: Tensor, draw: torch.Generator, masked: bool, step: int) -> Tensor:
    return _loss(model, train[torch.randint(len(train), (64,), generator=draw)], masked)


def _generation_loss(model: DecoderOnly, ids: Tensor, masked: bool) -> float:
    """Compute the loss of the next word given only the words before it, as in generation."""
    total, words = 0.0, 0
    with torch.no_grad():
        for step in range(1, ids.shape[1]):
            rows = ids[ids[:, step] != PAD]
            if len(rows):
                mask = causal(step) if masked else no_mask(step)
                logits = model(rows[:, :step], may_attend=mask)[:, -1]
                total += float(F.cross_entropy(logits, rows[:, step], reduction="sum"))
                words += len(rows)
    return total / words


def measure(setup: Setup, unmasked: bool = True) -> Evidence:
    """Train with the mask and without; compare the loss in training with that in generation.

    Args:
        unmasked: whether the second model is really trained without the mask.
    """
    found: dict[str, list[float]] = {}
    records = []
    for seed in setup.every_seed():
        texts, vocab_size = _texts(setup.size, seed)
        train, test = texts[:-100], texts[-100:]
        for name, masked in (("with the mask", True), ("without the mask", not unmasked)):
            model = small_decoder(seed, vocab_size=vocab_size, scale_embeddings=True)
            draw = torch_generator(seed, "K3")
            curve = fit(model, partial(_loss_of_step, model, train, draw, masked), setup.steps)
            with torch.no_grad():
                given = float(_loss(model, test, masked))
            generated = _generation_loss(model, test, masked)
            found.setdefault(f"{name}, training", []).append(given)
            found.setdefault(f"{name}, generation", []).append(generated)
            if seed == setup.seed:
                records += [{"step": n, "loss": loss, "model": name} for n, loss in enumerate(curve) if n % 5 == 0]
    generation = found["without the mask, generation"], found["with the mask, generation"]
    numbers = {
        "training_loss_without_mask": mean_over_seeds(found["without the mask, training"]),
        "training_loss_with_mask": mean_over_seeds(found["with the mask, training"]),
        "generation_loss_without_mask_over_with": paired_difference(*generation),
    }
    return Evidence(numbers, records, Figure("line", "step", "loss", "model"))


CLAIM = claim(
    measure,
    at_most("training_loss_without_mask", 0.3, fails_at=1.0),
    at_least("generation_loss_without_mask_over_with", 0.5, fails_at=0.1),
    effort=Effort(Setup(seeds=3, steps=100, size=1_500), Setup(seeds=5, steps=600, size=5_000)),
)

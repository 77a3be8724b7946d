"""A10: distance does not matter to attention; it does to a recurrent network."""

from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from pellucid.claims.claim import Effort, Setup, at_least, at_most, claim
from pellucid.claims.evidence import Estimate, Evidence, Figure, exact_values, paired_difference, share_over_seeds
from pellucid.claims.small_models import torch_generator
from pellucid.claims.toy_tasks import ToyBatch, accuracy, fit, loss_on, train_on_task
from pellucid.layers.embeddings import TokenEmbedding

__all__ = ["CLAIM", "LstmLanguageModel", "generate_marked_text", "measure"]

_SHORT, _LONG = 16, 96


def generate_marked_text(
    random: torch.Generator, batch: int, length: int = _SHORT, distance: int | None = None
) -> ToyBatch:
    """Generate letters of which one is marked; the answer at the end is that letter.

    Args:
        length: number of letters.
        distance: how far before the end the marked letter is; random by default.
    """
    letters = torch.randint(8, (batch, length), generator=random)
    if distance is None:
        position = torch.randint(length, (batch, 1), generator=random)
    else:
        position = torch.full((batch, 1), length - distance)
    marked = torch.zeros_like(letters).scatter_(1, position, 8)
    ids = torch.cat((1 + letters + marked, torch.full((batch, 1), 17)), 1)
    answers = torch.full_like(ids, -1)
    answers[:, -1:] = 1 + letters.gather(1, position)
    return ToyBatch(ids, answers)


class LstmLanguageModel(nn.Module):
    """Embedding, LSTM and tied output embedding: tokens in, a distribution over the next token out.

    Source:
        Hochreiter & Schmidhuber 1997; Zaremba et al. 2014 for language modelling with it.
    """

    def __init__(self, vocab_size: int, d_model: int, n_layers: int = 1) -> None:
        super().__init__()
        self.embedding = TokenEmbedding(vocab_size, d_model, d_model**0.5)
        self.lstm = nn.LSTM(d_model, d_model, n_layers, batch_first=True)

    def forward(self, ids: Int[Tensor, "batch seq"]) -> Float[Tensor, "batch seq vocab_size"]:
        """Compute the logits of the next token at each position."""
        states, _ = self.lstm(self.embedding(ids))
        return self.embedding.logits(states)


def _lstm(seed: int, steps: int, length: int) -> LstmLanguageModel:
    """Train an LSTM of width 32 in the same way as `train_on_task`."""
    lstm = LstmLanguageModel(18, 32)
    with torch.no_grad():
        random = torch_generator(seed, "A10")
        for weight in lstm.parameters():
            weight.uniform_(-(32**-0.5), 32**-0.5, generator=random)
    texts = torch_generator(seed, "texts of a task")

    def loss(step: int) -> Tensor:
        return loss_on(lstm, generate_marked_text(texts, 64, length))

    fit(lstm, loss, steps)
    return lstm


def measure(setup: Setup) -> Evidence:
    """Train one layer of attention and an LSTM of similar size; test letters near and far, at two lengths."""
    near = 1
    found: dict[tuple[str, int, int], list[float]] = {}
    sizes = {}
    for seed in setup.every_seed():
        for length in (_SHORT, _LONG):
            task = partial(generate_marked_text, length=length)
            attention, _ = train_on_task(task, seed, setup.steps, positions="none", vocab_size=18, n_heads=1)
            models: dict[str, nn.Module] = {"attention": attention, "LSTM": _lstm(seed, setup.steps, length)}
            for name, model in models.items():
                sizes[name] = sum(weight.numel() for weight in model.parameters())
                for distance in (near, length // 4, length // 2, length):
                    right = accuracy(model, partial(task, distance=distance), seed, texts=500)
                    found.setdefault((name, length, distance), []).append(right)
    records = []
    for (name, length, distance), values in found.items():
        mean = share_over_seeds(values)
        records.append({"letters": str(length), "distance": distance, "model": name, **mean.columns("accuracy")})

    def lost(name: str, length: int) -> Estimate:
        return paired_difference(found[name, length, near], found[name, length, length])

    numbers = {
        "lost_by_distance_attention": lost("attention", _LONG),
        "accuracy_far_attention": share_over_seeds(found["attention", _LONG, _LONG]),
        "lost_by_distance_lstm_96": lost("LSTM", _LONG),
        "lost_by_distance_lstm_16": lost("LSTM", _SHORT),
        "parameters_of_lstm_over_attention": exact_values(ratio=sizes["LSTM"] / sizes["attention"])["ratio"],
    }
    return Evidence(numbers, records, Figure("line", "distance", "accuracy", "model", column="letters"))


CLAIM = claim(
    measure,
    at_most("lost_by_distance_attention", 0.05, fails_at=0.15),
    at_least("accuracy_far_attention", 0.8, fails_at=0.5),
    at_least("lost_by_distance_lstm_96", 0.1, fails_at=0.02),
    outside=(at_least("lost_by_distance_lstm_16", 0.1, fails_at=0.02),),
    effort=Effort(Setup(seeds=3, steps=60), Setup(seeds=5, steps=400)),
)

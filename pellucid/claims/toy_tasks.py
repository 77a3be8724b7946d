"""Toy tasks that each need one ability, and small models trained on them.

recall          four tokens, each a key with a value, then a key: name its value
successors      every token names the mark of its successor in a fixed cycle
two at once     of four values, name the first minus the third

The models are decoder-only models that may attend to every position; answers are at the last position, or at every one.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pellucid.claims.small_models import no_mask, small_decoder, torch_generator
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.initialise import init_weights
from pellucid.training.config import TrainingConfig
from pellucid.training.optimizer import adamw

__all__ = [
    "Optimizer",
    "ToyBatch",
    "ToyTask",
    "accuracy",
    "associative_recall",
    "build_adamw",
    "fit",
    "logits_of",
    "loss_on",
    "successors",
    "train_on_task",
    "train_to_name_the_chaser",
    "two_at_once",
]


class ToyBatch(NamedTuple):
    """Texts and the answers at their positions: −1 where there is none."""

    ids: Tensor
    answers: Tensor


ToyTask = Callable[[torch.Generator, int], ToyBatch]
Optimizer = Callable[[nn.Module, float], torch.optim.Optimizer]


def associative_recall(random: torch.Generator, batch: int) -> ToyBatch:
    """Generate four tokens, each a key with a value (1 + 4 · key + value), and a key; the answer is its value."""
    keys = torch.rand(batch, 6, generator=random).argsort(1)[:, :4]
    values = torch.randint(4, (batch, 4), generator=random)
    asked = torch.randint(4, (batch, 1), generator=random)
    ids = torch.cat((1 + 4 * keys + values, 25 + keys.gather(1, asked)), 1)
    answers = torch.full_like(ids, -1)
    answers[:, -1:] = 1 + values.gather(1, asked)
    return ToyBatch(ids, answers)


def successors(random: torch.Generator, batch: int) -> ToyBatch:
    """Generate six of eight tokens in random order, each with a mark; the answers are the successors' marks.

    The successor of token n is n + 1, and that of the last is the first. The text consists of six consecutive tokens of
    the cycle, so that all but one have an answer.
    """
    start = torch.randint(8, (batch, 1), generator=random)
    tokens = (start + torch.arange(6)) % 8
    order = torch.rand(batch, 6, generator=random).argsort(1)
    marks = torch.randint(4, (batch, 6), generator=random)
    positions = order.argsort(1)  # of the run's tokens in the text
    # A token and its mark are one symbol: 1 + 4 · token + mark.
    run = 1 + 4 * tokens + marks
    ids = run.gather(1, order)
    answers = torch.full_like(ids, -1)
    answers.scatter_(1, positions[:, :-1], marks[:, 1:] + 1)
    return ToyBatch(ids, answers)


def two_at_once(random: torch.Generator, batch: int) -> ToyBatch:
    """Generate texts of four values and an end; the answer is the first minus the third, modulo 6.

    The other two positions hold values too, so that only the positions tell which values are needed.
    """
    values = torch.randint(6, (batch, 4), generator=random)
    ids = torch.cat((values + 1, torch.full((batch, 1), 7)), 1)
    answers = torch.full_like(ids, -1)
    answers[:, -1] = (values[:, 0] - values[:, 2]) % 6 + 1
    return ToyBatch(ids, answers)


def build_adamw(model: nn.Module, learning_rate: float) -> torch.optim.Optimizer:
    """Build Pellucid's AdamW, without weight decay."""
    return adamw(model, TrainingConfig(learning_rate=learning_rate, weight_decay=0.0))


def fit(
    model: nn.Module,
    loss_of_step: Callable[[int], Tensor],
    steps: int,
    *,
    learning_rate: float = 3e-3,
    optimizer: Optimizer = build_adamw,
) -> list[float]:
    """Train a model in place at a constant learning rate, with gradients clipped to norm 1.

    Args:
        loss_of_step: computes the loss of the batch of step n, from 0.

    Returns:
        The loss of each step.
    """
    updates = optimizer(model, learning_rate)
    losses = []
    model.train()
    for step in range(steps):
        loss = loss_of_step(step)
        updates.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        updates.step()
        losses.append(float(loss.detach()))
    model.eval()
    return losses


def train_on_task(
    task: ToyTask,
    seed: int,
    steps: int,
    *,
    change: Callable[[nn.Module], nn.Module] = lambda model: model,
    batch: int = 64,
    learning_rate: float = 3e-3,
    optimizer: Optimizer = build_adamw,
    vocab_size: int = 40,
    **choices: object,
) -> tuple[DecoderOnly, list[float]]:
    """Train a model on freshly generated texts of a task; return it and each step's loss in nats per answer.

    Args:
        change: applied to the untrained model, such as an ablation.
        choices: settings of the model's configuration.
    """
    settings = {"n_layers": 1, "positions": "sinusoidal", "scale_embeddings": True, "activation": "relu", **choices}
    model = small_decoder(seed, vocab_size=vocab_size, **settings)
    change(model)
    random = torch_generator(seed, "texts of a task")

    def loss(step: int) -> Tensor:
        return loss_on(model, task(random, batch))

    return model, fit(model, loss, steps, learning_rate=learning_rate, optimizer=optimizer)


def train_to_name_the_chaser(
    seed: int, steps: int, positions: str, *, word_vectors_only: bool = False
) -> tuple[DecoderOnly, float]:
    """Train a model to name the animal that chases, from the mean of its states, on all sentences “a 追 b”.

    Args:
        word_vectors_only: average the word vectors instead of the states.

    Returns:
        The model, and its accuracy on the same sentences.
    """
    model, classifier = small_decoder(seed, vocab_size=10, positions=positions), nn.Linear(32, 10)
    init_weights(classifier, seed, residual_scale=1.0)
    animals = range(1, 9)  # ids; 9 stands for 追
    pairs = torch.tensor([(a, b) for a in animals for b in animals if a != b])
    text = torch.stack((pairs[:, 0], torch.full((len(pairs),), 9), pairs[:, 1]), 1)

    def logits() -> Tensor:
        states = model.embedding(text) if word_vectors_only else model.states(text, may_attend=no_mask(3))
        named: Tensor = classifier(states.mean(1))
        return named

    fit(nn.ModuleList([model, classifier]), lambda step: F.cross_entropy(logits(), pairs[:, 0]), steps)
    with torch.no_grad():
        return model, float((logits().argmax(1) == pairs[:, 0]).float().mean())


def loss_on(model: nn.Module, batch: ToyBatch) -> Tensor:
    """Compute the mean loss of the answers, in nats."""
    logits = logits_of(model, batch.ids)
    return F.cross_entropy(logits.flatten(0, 1), batch.answers.flatten(), ignore_index=-1)


def logits_of(model: nn.Module, ids: Tensor) -> Tensor:
    """Compute the logits at every position; a decoder-only model may attend to every position."""
    logits: Tensor = model(ids, may_attend=no_mask(ids.shape[1])) if isinstance(model, DecoderOnly) else model(ids)
    return logits


def accuracy(model: nn.Module, task: ToyTask, seed: int, texts: int = 1_000) -> float:
    """Compute the share of right answers on test texts."""
    batch = task(torch_generator(seed, "test texts"), texts)
    with torch.no_grad():
        predicted = logits_of(model, batch.ids).argmax(-1)
    asked = batch.answers >= 0
    return float((predicted == batch.answers)[asked].float().mean())

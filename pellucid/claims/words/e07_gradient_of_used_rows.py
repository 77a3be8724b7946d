"""E7: the task's error reaches exactly the embedding rows that were used."""

import torch

from pellucid.claims.claim import Setup, at_least, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.small_models import random_ids, small_decoder
from pellucid.training.config import TrainingConfig
from pellucid.training.optimizer import adamw

__all__ = ["CLAIM", "measure"]


def _gradients(seed: int, tied: bool) -> tuple[list[float], set[int]]:
    model = small_decoder(seed, tie_embeddings=tied)
    ids = random_ids(seed, 1, 8)
    _loss(model, ids).backward()
    gradient = model.embedding.weight.grad
    assert gradient is not None
    return gradient.norm(dim=1).tolist(), set(ids[0, :-1].tolist())


def _loss(model: torch.nn.Module, ids: torch.Tensor) -> torch.Tensor:
    logits = model(ids[:, :-1])
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())


def _movement_of_unused(seed: int) -> float:
    """Measure how far AdamW with weight decay moves a row in a step without it, after a step with it."""
    model = small_decoder(seed, tie_embeddings=False)
    optimizer = adamw(model, TrainingConfig(learning_rate=1e-2, weight_decay=0.01))
    halves = torch.arange(1, 9)[None], torch.arange(9, 17)[None]
    for ids in halves:
        before = model.embedding.weight.detach().clone()
        optimizer.zero_grad()
        _loss(model, ids).backward()
        optimizer.step()
    return float((model.embedding.weight.detach() - before)[1:8].norm(dim=1).min())


def measure(setup: Setup, tied: bool = False) -> Evidence:
    """Compute the gradient of one sentence with respect to the embedding's rows, untied and tied."""
    records, numbers = [], {}
    for name, share in (("untied", tied), ("tied", True)):
        norms, used = _gradients(setup.seed, share)
        unused = [norm for row, norm in enumerate(norms) if row not in used]
        records += [
            {"matrix": name, "row": row, "gradient": norm, "token": "in the text" if row in used else "not in the text"}
            for row, norm in enumerate(norms)
        ]
        numbers[name] = (max(unused), min(norms[row] for row in used))
    return Evidence(
        exact_values(
            gradient_of_unused_rows=numbers["untied"][0],
            least_gradient_of_used_rows=numbers["untied"][1],
            gradient_of_unused_rows_tied=numbers["tied"][0],
            update_of_unused_rows_by_adamw=_movement_of_unused(setup.seed),
        ),
        records,
        Figure("point", "row", "gradient", "token", column="matrix"),
    )


CLAIM = claim(
    measure,
    at_most("gradient_of_unused_rows", 0.0),
    at_least("least_gradient_of_used_rows", 1e-6),
    outside=(at_most("gradient_of_unused_rows_tied", 0.0), at_most("update_of_unused_rows_by_adamw", 0.0)),
)

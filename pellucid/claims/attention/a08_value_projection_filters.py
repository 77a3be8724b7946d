"""A8: W_V filters."""

import torch
from torch import Tensor

from pellucid.claims.activations import Activations
from pellucid.claims.claim import Effort, Setup, at_least, claim
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds, paired_difference, share_over_seeds
from pellucid.claims.toy_tasks import associative_recall, train_on_task

__all__ = ["CLAIM", "explained_variance", "measure"]


def explained_variance(rows: Tensor, labels: Tensor) -> float:
    """Compute the share of the rows' variance that lies between the means of their labels."""
    means = torch.stack([rows[labels == label].mean(0) for label in labels])
    total = (rows - rows.mean(0)).square().sum()
    return float((means - rows.mean(0)).square().sum() / total)


def measure(setup: Setup) -> Evidence:
    """Train recall, where the value is needed and the key is not, and measure which of them V contains."""
    found: dict[tuple[str, str], list[float]] = {}
    tokens = torch.arange(1, 25)
    attributes = {"needed (value)": (tokens - 1) % 4, "not needed (key)": (tokens - 1) // 4}
    for seed in setup.every_seed():
        for when, steps in (("before", 0), ("after", setup.steps)):
            model, _ = train_on_task(associative_recall, seed, steps, positions="none", batch=128)
            activations = Activations()
            with torch.no_grad():
                model(tokens[:, None], activations)
            spaces = {
                "X": activations["decoder.0.residual.input"][:, 0],
                "V": activations["decoder.0.self_attention.value"][:, :, 0].flatten(1),
            }
            for space, rows in spaces.items():
                for name, labels in attributes.items():
                    found.setdefault((f"{space} {when}", name), []).append(explained_variance(rows, labels))
    records = []
    for (space, name), values in found.items():
        mean = share_over_seeds(values)
        records.append({"space": space, "attribute": name, **mean.columns("share")})

    def ratio(space: str) -> list[float]:
        wanted, unwanted = found[space, "needed (value)"], found[space, "not needed (key)"]
        return [a - b for a, b in zip(wanted, unwanted, strict=True)]

    numbers = {
        "lead_of_wanted_in_v": mean_over_seeds(ratio("V after")),
        "lead_in_v_over_lead_in_x": paired_difference(ratio("V after"), ratio("X after")),
        "lead_of_wanted_in_v_before": mean_over_seeds(ratio("V before")),
    }
    return Evidence(numbers, records, Figure("bar", "space", "share", "attribute"))


CLAIM = claim(
    measure,
    at_least("lead_of_wanted_in_v", 0.1, fails_at=0.0),
    at_least("lead_in_v_over_lead_in_x", 0.05, fails_at=0.0),
    effort=Effort(Setup(seeds=3, steps=250), Setup(seeds=8, steps=1_000)),
)

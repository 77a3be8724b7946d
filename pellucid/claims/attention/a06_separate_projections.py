"""A6: queries and keys need separate projections."""

from pellucid.claims.ablations import tie_queries_and_keys
from pellucid.claims.claim import Effort, Setup, at_least, claim
from pellucid.claims.evidence import Evidence, Figure, paired_difference, share_over_seeds
from pellucid.claims.toy_tasks import accuracy, successors, train_on_task

__all__ = ["CLAIM", "measure"]


def measure(setup: Setup) -> Evidence:
    """Train one layer with one head on a directed task, with two matrices and with one."""
    kinds = {"W_Q and W_K": lambda model: model, "W_Q = W_K": tie_queries_and_keys}
    found: dict[str, list[float]] = {kind: [] for kind in kinds}
    records = []
    for seed in setup.every_seed():
        for kind, change in kinds.items():
            model, _ = train_on_task(
                successors, seed, setup.steps, change=change, n_heads=1, positions="none", batch=128
            )
            found[kind].append(accuracy(model, successors, seed))
            records.append({"projections": kind, "seed": str(seed), "accuracy": found[kind][-1]})
    separate, tied = found.values()
    numbers = {
        "accuracy_separate": share_over_seeds(separate),
        "accuracy_tied": share_over_seeds(tied),
        "advantage_of_separate": paired_difference(separate, tied),
    }
    return Evidence(numbers, records, Figure("bar", "projections", "accuracy", "seed"))


CLAIM = claim(
    measure,
    at_least("advantage_of_separate", 0.1, fails_at=0.02),
    at_least("accuracy_separate", 0.6, fails_at=0.4),
    effort=Effort(Setup(seeds=3, steps=150), Setup(seeds=5, steps=1_000)),
)

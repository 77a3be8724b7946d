"""H5: too few heads limit a model; too many make each head too narrow."""

from pellucid.claims.claim import Effort, Setup, at_least, claim
from pellucid.claims.evidence import Evidence, Figure, paired_difference, share_over_seeds
from pellucid.claims.toy_tasks import accuracy, train_on_task, two_at_once

__all__ = ["CLAIM", "measure"]

_COUNTS = (4, 1, 32, 2, 8, 16)  # the first three in the quick lab, too


def measure(setup: Setup) -> Evidence:
    """Train one layer of fixed width with 1 to 32 heads on a task that needs two positions."""
    counts = sorted(_COUNTS[: setup.size])
    found: dict[int, list[float]] = {count: [] for count in counts}
    for seed in setup.every_seed():
        for count in counts:
            model, _ = train_on_task(two_at_once, seed, setup.steps, n_heads=count, batch=128)
            found[count].append(accuracy(model, two_at_once, seed))
    records = []
    for count, values in found.items():
        mean = share_over_seeds(values)
        records.append({"heads": str(count), **mean.columns("accuracy")})
    few, *middle, many = found.values()
    best = max(middle, key=sum)
    numbers = {
        "best_middle_over_one_head": paired_difference(best, few),
        "best_middle_over_one_dimensional_heads": paired_difference(best, many),
    }
    return Evidence(numbers, records, Figure("line", "heads", "accuracy"))


CLAIM = claim(
    measure,
    at_least("best_middle_over_one_head", 0.05, fails_at=0.02),
    at_least("best_middle_over_one_dimensional_heads", 0.05, fails_at=0.02),
    effort=Effort(Setup(seeds=3, steps=50, size=3), Setup(seeds=5, steps=1_500, size=6)),
)

"""T5: training aligns the meanings of source and target."""

from pellucid.claims.claim import Effort, Setup, at_least, claim
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Evidence, Figure, paired_difference, share_over_seeds
from pellucid.claims.translation_retrieval import measure_retrieval

__all__ = ["CLAIM", "measure"]


def measure(setup: Setup) -> Evidence:
    """Retrieve translations among unseen sentences before and after training."""
    found: dict[tuple[str, str], list[float]] = {}
    records: list[dict[str, object]] = []
    for seed in setup.every_seed():
        for when, length in (("before", 0), ("after", setup.steps)):
            for way, share in measure_retrieval(demo_translator(length, seed), setup.size)._asdict().items():
                found.setdefault((way, when), []).append(share)
                records.append({"states": f"{way}, {when}", "seed": str(seed), "found": share})
    gains = {way: paired_difference(found[way, "after"], found[way, "before"]) for way in ("rotated", "direct")}
    numbers = {
        **{f"gain_{way}": gain for way, gain in gains.items()},
        **{f"found_{way}_{when}": share_over_seeds(values) for (way, when), values in found.items()},
    }
    return Evidence(numbers, records, Figure("bar", "states", "found", "seed"))


CLAIM = claim(
    measure,
    at_least("gain_rotated", 0.1, fails_at=0.02),
    outside=(at_least("gain_direct", 0.1, fails_at=0.02),),
    effort=Effort(Setup(seeds=3, steps=150, size=100), Setup(seeds=6, steps=1_500, size=200)),
)

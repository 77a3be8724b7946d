"""S2: dividing by √d_k brings the variance back to 1."""

from collections.abc import Callable

from torch import Tensor

from pellucid.claims.claim import Setup, at_least, at_most, claim
from pellucid.claims.evidence import Evidence, Figure
from pellucid.claims.scaling.s1_variance_grows import WIDTHS, paired_scores, score_variances

__all__ = ["CLAIM", "measure"]


def measure(setup: Setup, score: Callable[[Tensor, Tensor], Tensor] = paired_scores) -> Evidence:
    """Measure the variance of attention scores for dimensions from 1 to 1,024."""
    variances = score_variances(setup.seed, "S2", score)
    records = [{"d_k": d, **v.columns("variance")} for v, d in zip(variances, WIDTHS, strict=True)]
    numbers = {
        "least_variance": min(variances, key=lambda variance: variance.value),
        "largest_variance": max(variances, key=lambda variance: variance.value),
    }
    return Evidence(numbers, records, Figure("line", "d_k", "variance", log_x=True))


CLAIM = claim(measure, at_least("least_variance", 0.85), at_most("largest_variance", 1.15))
